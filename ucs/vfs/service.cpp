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
#include "ucs/vfs/fuse_module.hpp"
#include "ucs/vfs/tree.hpp"
#include "ucs/vfs/wire.hpp"

namespace ucs::vfs {
namespace {

constinit log::component self{"ucs.vfs"};

constexpr int mount_limit_ms = 10'000;  // what the daemon may take to mount

// Waits until the connection has something to say. False: it has not, or we are to stop.
bool wait_for(int connection, int stop) {
    pollfd both[] = {{connection, POLLIN, 0}, {stop, POLLIN, 0}};
    int ready = 0;
    do {
        ready = ::poll(both, 2, mount_limit_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0 && both[1].revents == 0;
}

void serve(int connection, int stop, const std::string& module_folder) {
    std::string why_not;
    const auto* module = reinterpret_cast<const fuse_module*>(
        sys::load_module("fuse", module_folder, fuse_module::expected(), why_not));
    if (module == nullptr) {
        log::info(self, "ucx_vfs cannot show this process: {}", why_not);
        (void)wire::send(connection, wire::kind::refused, why_not);
        return;
    }
    (void)wire::send(connection, wire::kind::ready, sys::executable_name());
    if (!wait_for(connection, stop)) return;
    bool over = false;
    const auto mounted = wire::receive(connection, over);
    if (!mounted || mounted->type != wire::kind::mounted || !mounted->descriptor) return;
    log::debug(self, "ucx_vfs shows this process");
    if (!module->serve(mounted->descriptor.get(), connection, stop, &ask)) {
        log::warn(self, "libfuse does not serve the object tree");
    }
}

struct state {
    std::mutex lock;  // guards all but `server`
    unsigned entrances = 0;
    std::unique_ptr<async::eventfd> stop;
    async::thread thread;
    std::atomic<pid_t> server{0};  // the process that has the thread: a forked child has not
};

state& here() {
    // In memory that is there, and never destroyed: workers may leave after static destructors
    // began.
    alignas(state) static std::byte place[sizeof(state)];
    static state& only = *::new (place) state;
    return only;
}

void serve_all(state& own, unique_fd& connection, const std::string& module_folder) noexcept {
    try {
        serve(connection.get(), own.stop->fd(), module_folder);
    } catch (const std::bad_alloc&) {
        log::error(self, "out of memory: the object tree is not shown any more");
    }
    connection.reset();
    own.server = 0;
}

}  // namespace

namespace service {

bool serving() noexcept {
    return here().server == ::getpid();
}

void enter() noexcept {
    const std::lock_guard guard(here().lock);
    ++here().entrances;
}

void leave() noexcept {
    state& own = here();
    const std::lock_guard guard(own.lock);
    if (--own.entrances > 0) return;
    if (own.stop != nullptr) own.stop->signal();
    own.thread.stop();
    own.stop.reset();
}

void attach(unique_fd connection, std::string module_folder) {
    state& own = here();
    const std::lock_guard guard(own.lock);
    if (serving()) return;
    own.thread.stop();  // of the connection before, which is over
    auto stop = async::eventfd::create();
    if (!stop) return;
    own.stop = std::make_unique<async::eventfd>(std::move(*stop));
    // Functions of the thread can be copied.
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
