#include "tools/info/peer_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/common/failure.hpp"
#include "tools/info/ucp_objects.hpp"

namespace tools::info {
namespace {

constexpr std::size_t max_address = 65536;

// Time limits for the start of the child, and for its end after its release.
constexpr int start_limit_ms = 30'000;
constexpr int end_limit_ms = 5'000;

bool is_released(int fd) {
    pollfd waiting{fd, POLLIN, 0};
    return ::poll(&waiting, 1, 0) != 0;
}

[[noreturn]] void serve(const options& opts, int fd) {
    try {
        const ucp_objects own(opts);
        const std::vector<std::byte> address = own.address();
        if (::send(fd, address.data(), address.size(), MSG_NOSIGNAL) > 0) {
            while (!is_released(fd))
                ucp_worker_progress(own.worker());
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "ucx_info: peer process: {}\n", error.what());
    }
    std::_Exit(0);
}

}  // namespace

peer_process::peer_process(const options& opts) {
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
        throw failure(fmt::format("socketpair: {}", std::strerror(errno)));
    }
    channel_.reset(fds[0]);
    const ucs::unique_fd child_end(fds[1]);
    child_ = ::fork();
    if (child_ < 0) throw failure(fmt::format("fork: {}", std::strerror(errno)));
    if (child_ != 0) return;
    channel_.reset();
    serve(opts, child_end.get());
}

peer_process::~peer_process() {
    if (child_ <= 0) {
        channel_.reset();
        return;
    }
    // The child's end of the channel closes when the child ends.
    ::shutdown(channel_.get(), SHUT_WR);
    pollfd ended{channel_.get(), POLLRDHUP, 0};
    if (::poll(&ended, 1, end_limit_ms) == 0) {
        fmt::print(stderr, "ucx_info: the peer process {} does not end; it is killed\n", child_);
        ::kill(child_, SIGKILL);
    }
    channel_.reset();
    ::waitpid(child_, nullptr, 0);
}

std::vector<std::byte> peer_process::address() const {
    pollfd ready{channel_.get(), POLLIN, 0};
    if (::poll(&ready, 1, start_limit_ms) == 0) {
        throw failure(fmt::format("the peer process {} did not start within {} s", child_,
                                  start_limit_ms / 1000));
    }
    std::vector<std::byte> bytes(max_address);
    const ssize_t length = ::recv(channel_.get(), bytes.data(), bytes.size(), 0);
    if (length <= 0) throw failure("the peer process did not start");
    bytes.resize(static_cast<std::size_t>(length));
    return bytes;
}

}  // namespace tools::info
