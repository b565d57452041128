#include "ucs/vfs/daemon_listener.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>

#include "ucs/async/eventfd.hpp"
#include "ucs/async/thread.hpp"
#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/descriptor/peer_credentials.hpp"
#include "ucs/log/log.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/type/allocated.hpp"
#include "ucs/vfs/fuse_module.hpp"
#include "ucs/vfs/names.hpp"
#include "ucs/vfs/settings.hpp"
#include "ucs/vfs/tree.hpp"
#include "ucs/vfs/wire.hpp"

namespace ucs::vfs {
namespace {

constinit log::component self{"ucs.vfs"};
constexpr int mount_limit_ms = 10'000;  // time limit for the daemon's mount

// Waits until the connection is readable. Returns false at the time limit, or if `stop` is
// signalled.
bool wait_until_readable(int connection, int stop) {
    pollfd both[] = {{connection, POLLIN, 0}, {stop, POLLIN, 0}};
    int ready = 0;
    do {
        ready = ::poll(both, 2, mount_limit_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0 && both[1].revents == 0;
}

void serve(int connection, int stop, const std::string& module_folder) {
    std::string reason;
    const auto* module = reinterpret_cast<const fuse_module*>(
        sys::load_module("fuse", module_folder, fuse_module::expected(), reason));
    if (module == nullptr) {
        log::info(self, "ucx_vfs cannot show this process: {}", reason);
        (void)wire::send(connection, wire::kind::refused, reason);
        return;
    }
    (void)wire::send(connection, wire::kind::ready, sys::executable_name());
    if (!wait_until_readable(connection, stop)) return;
    bool over = false;
    const auto mounted = wire::receive(connection, over);
    if (!mounted || mounted->type != wire::kind::mounted || !mounted->descriptor) return;
    log::debug(self, "ucx_vfs shows this process");
    if (!module->serve(mounted->descriptor.get(), connection, stop, &ask)) {
        log::warn(self, "libfuse does not serve the object tree");
    }
}

// Each listening socket of the process passes its connections to this service. A thread serves the
// first connection, and exists as long as the connection. Any thread.
struct state {
    std::mutex lock;  // guards all members except `server`
    unsigned daemon_listeners = 0;
    std::unique_ptr<async::eventfd> stop;
    async::thread thread;
    std::atomic<pid_t> server{
        0};  // process id of the process with the thread; a forked child has no thread
};

state& instance() {
    // The object lives in static memory and is never destroyed, because workers may leave after
    // static destructors have begun.
    alignas(state) static std::byte storage[sizeof(state)];
    static state& only = *::new (storage) state;
    return only;
}

void serve_all(state& own, unique_fd& connection, const std::string& module_folder) noexcept {
    if (!allocated([&] { serve(connection.get(), own.stop->fd(), module_folder); }))
        log::error(self, "out of memory: the object tree is not shown any more");
    connection.reset();
    own.server = 0;
}

bool serving() noexcept {
    return instance().server == ::getpid();
}

void enter_service() noexcept {
    const std::lock_guard guard(instance().lock);
    ++instance().daemon_listeners;
}

// The last call ends the thread, and with it the mount.
void leave_service() noexcept {
    state& own = instance();
    const std::lock_guard guard(own.lock);
    if (--own.daemon_listeners > 0) return;
    if (own.stop != nullptr) own.stop->signal();
    own.thread.stop();
    own.stop.reset();
}

// Takes a connection of the daemon. Closes it if another connection is being served.
void attach(unique_fd connection, std::string module_folder) {
    state& own = instance();
    const std::lock_guard guard(own.lock);
    if (serving()) return;
    own.thread.stop();  // join the thread of the previous connection, which has ended
    auto stop = async::eventfd::create();
    if (!stop) return;
    own.stop = std::make_unique<async::eventfd>(std::move(*stop));
    // The thread's functions must be copyable, so share the descriptor.
    const auto shared = std::make_shared<unique_fd>(std::move(connection));
    own.server = ::getpid();
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    const bool has_memory = allocated([&] {
        status = own.thread.post([&own, shared, folder = std::move(module_folder)](
                                     async::event_loop&) { serve_all(own, *shared, folder); });
    });
    if (!has_memory) log::error(self, "out of memory: the object tree is not shown");
    if (status != UCS_OK) own.server = 0;
}

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
    enter_service();
}

daemon_listener::~daemon_listener() {
    listening_.stop();
    sys::close_in_background(std::move(listener_));  // together with the connections in its queue
    leave_service();
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
    attach(std::move(caller), module_folder_);
}

}  // namespace ucs::vfs
