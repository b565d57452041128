// The module fuse.so connects libfuse3 with vfs::ask. No other part of the library uses libfuse, so
// only a process that ucx_vfs shows loads it.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "ucs/vfs/fuse/operations.hpp"
#include "ucs/vfs/fuse_module.hpp"

namespace {

using namespace ucs::vfs;

struct free_fuse {
    void operator()(fuse* made) const noexcept { ::fuse_destroy(made); }
};

// Waits for a request. Returns false when the connection ends or `stop` is signalled.
bool wait_for_request(int device, int connection, int stop) {
    pollfd all[] = {{device, POLLIN, 0}, {connection, POLLIN, 0}, {stop, POLLIN, 0}};
    while (::poll(all, 3, -1) < 0) {
        if (errno != EINTR) return false;
    }
    return all[1].revents == 0 && all[2].revents == 0;
}

bool serve(int device, int connection, int stop, answer (*ask)(const query&)) {
    char name[] = "ucx_vfs";
    char* words[] = {name, nullptr};
    fuse_args arguments = FUSE_ARGS_INIT(1, words);
    const std::unique_ptr<fuse, free_fuse> made(::fuse_new(&arguments, &fuse_operations_of_tree(),
                                                           sizeof(fuse_operations),
                                                           reinterpret_cast<void*>(ask)));
    ::fuse_opt_free_args(&arguments);
    if (made == nullptr) return false;
    fuse_session* session = ::fuse_get_session(made.get());
    // libfuse closes the descriptor that it gets, but `device` belongs to the caller, so pass a
    // duplicate.
    const int own = ::fcntl(device, F_DUPFD_CLOEXEC, 0);
    if (own < 0 || ::fuse_session_mount(session, ("/dev/fd/" + std::to_string(own)).c_str()) != 0) {
        if (own >= 0) ::close(own);
        return false;
    }
    fuse_buf buffer{};
    while (::fuse_session_exited(session) == 0 && wait_for_request(own, connection, stop)) {
        const int length = ::fuse_session_receive_buf(session, &buffer);
        if (length == -EINTR || length == -EAGAIN) continue;
        if (length <= 0) break;
        ::fuse_session_process_buf(session, &buffer);
    }
    std::free(buffer.mem);
    return true;
}

const fuse_module descriptor{fuse_module::expected(), serve};

}  // namespace

extern "C" __attribute__((visibility("default"))) const ucs::sys::module_head* hawser_module() {
    return &descriptor.head;
}
