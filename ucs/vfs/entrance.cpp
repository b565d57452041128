#include "ucs/vfs/entrance.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ucs/log/log.hpp"
#include "ucs/sys/close_aside.hpp"
#include "ucs/sys/descriptor_budget.hpp"
#include "ucs/sys/descriptor_passing.hpp"
#include "ucs/sys/peer_credentials.hpp"
#include "ucs/vfs/names.hpp"
#include "ucs/vfs/service.hpp"
#include "ucs/vfs/settings.hpp"

namespace ucs::vfs {
namespace {

constinit log::component self{"ucs.vfs"};

}  // namespace

std::unique_ptr<entrance> entrance::open(async::event_loop& on, const config::source& options) {
    auto wanted = config::load<settings>(options);
    if (!wanted || !wanted->enable) return nullptr;
    unique_fd listener = listen_at(process_name(::geteuid(), wanted->name));
    if (!listener) {
        log::debug(self, "ucx_vfs cannot look into this process: {}", std::strerror(errno));
        return nullptr;
    }
    std::unique_ptr<entrance> made(
        new entrance(on, std::move(listener), std::move(wanted->module_dir)));
    if (made->listening_.start({made->listener_.get()}) != UCS_OK) return nullptr;
    return made;
}

entrance::entrance(async::event_loop& on, unique_fd listener, std::string module_folder)
    : listener_(std::move(listener)),
      module_folder_(std::move(module_folder)),
      listening_(on, [this](int) { let_in(); }) {
    service::enter();
}

entrance::~entrance() {
    listening_.stop();
    sys::close_aside(std::move(listener_));  // with the callers in its queue
    service::leave();
}

// One at a time: who calls in a row waits for the next turns.
void entrance::let_in() {
    if (sys::closes_too_many()) return listening_.pause();
    unique_fd caller = sys::accept_within_budget(listener_.get());
    if (!caller) return listening_.pause();
    const auto peer = sys::read_peer_credentials(caller.get());
    if (!peer || !peer->is_own_user()) {
        log::debug(self, "a process of another user wanted to look into this one: refused");
        sys::close_aside(std::move(caller));
        return;
    }
    sys::allow_descriptors(caller.get());
    service::attach(std::move(caller), module_folder_);
}

}  // namespace ucs::vfs
