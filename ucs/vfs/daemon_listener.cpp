#include "ucs/vfs/daemon_listener.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/descriptor/peer_credentials.hpp"
#include "ucs/log/log.hpp"
#include "ucs/vfs/names.hpp"
#include "ucs/vfs/service.hpp"
#include "ucs/vfs/settings.hpp"

namespace ucs::vfs {
namespace {

constinit log::component self{"ucs.vfs"};

}  // namespace

std::unique_ptr<daemon_listener> daemon_listener::open(async::event_loop& events,
                                                       const config::source& options) {
    auto loaded = config::load<settings>(options);
    if (!loaded || !loaded->enable) return nullptr;
    unique_fd listener = listen_at(process_name(::geteuid(), loaded->name));
    if (!listener) {
        log::debug(self, "ucx_vfs cannot show this process: {}", std::strerror(errno));
        return nullptr;
    }
    std::unique_ptr<daemon_listener> made(
        new daemon_listener(events, std::move(listener), std::move(loaded->module_dir)));
    if (made->listening_.start({made->listener_.get()}) != UCS_OK) return nullptr;
    return made;
}

daemon_listener::daemon_listener(async::event_loop& events, unique_fd listener,
                                 std::string module_folder)
    : listener_(std::move(listener)),
      module_folder_(std::move(module_folder)),
      listening_(events, [this](int) { accept_daemon(); }) {
    service::enter();
}

daemon_listener::~daemon_listener() {
    listening_.stop();
    sys::close_in_background(std::move(listener_));  // together with the connections in its queue
    service::leave();
}

// Accepts one connection per event, so that many connections do not keep the event loop busy.
void daemon_listener::accept_daemon() {
    if (sys::has_too_many_pending_closes()) return listening_.pause();
    unique_fd caller = sys::accept_within_budget(listener_.get());
    if (!caller) return listening_.pause();
    const auto peer = sys::read_peer_credentials(caller.get());
    if (!peer || !peer->is_own_user()) {
        log::debug(self,
                   "a process of another user asked for the object tree of this process: refused");
        sys::close_in_background(std::move(caller));
        return;
    }
    sys::allow_descriptors(caller.get());
    service::attach(std::move(caller), module_folder_);
}

}  // namespace ucs::vfs
