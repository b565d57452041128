#include "ucs/vfs/service.hpp"

#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

#include "ucs/async/eventfd.hpp"
#include "ucs/async/thread.hpp"
#include "ucs/log/log.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/type/allocated.hpp"
#include "ucs/vfs/fuse_module.hpp"
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

}  // namespace

namespace service {

bool serving() noexcept {
    return instance().server == ::getpid();
}

void enter() noexcept {
    const std::lock_guard guard(instance().lock);
    ++instance().daemon_listeners;
}

void leave() noexcept {
    state& own = instance();
    const std::lock_guard guard(own.lock);
    if (--own.daemon_listeners > 0) return;
    if (own.stop != nullptr) own.stop->signal();
    own.thread.stop();
    own.stop.reset();
}

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
    try {
        status = own.thread.post([&own, shared, folder = std::move(module_folder)](
                                     async::event_loop&) { serve_all(own, *shared, folder); });
    } catch (const std::bad_alloc&) {
        log::error(self, "out of memory: the object tree is not shown");
    }
    if (status != UCS_OK) own.server = 0;
}

}  // namespace service

}  // namespace ucs::vfs
