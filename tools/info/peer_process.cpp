#include "tools/info/peer_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/common/failure.hpp"
#include "tools/info/ucp_objects.hpp"

namespace tools::info {
namespace {

constexpr std::size_t max_address = 65536;

bool is_let_go(int fd) {
    pollfd waiting{fd, POLLIN, 0};
    return ::poll(&waiting, 1, 0) != 0;
}

[[noreturn]] void serve(const options& wanted, int fd) {
    try {
        const ucp_objects own(wanted);
        const std::vector<std::byte> address = own.address();
        if (::send(fd, address.data(), address.size(), MSG_NOSIGNAL) > 0) {
            while (!is_let_go(fd))
                ucp_worker_progress(own.worker());
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "ucx_info: peer process: {}\n", error.what());
    }
    std::_Exit(0);
}

}  // namespace

peer_process::peer_process(const options& wanted) {
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
        throw failure(fmt::format("socketpair: {}", std::strerror(errno)));
    }
    channel_.reset(fds[0]);
    const ucs::unique_fd theirs(fds[1]);
    child_ = ::fork();
    if (child_ < 0) throw failure(fmt::format("fork: {}", std::strerror(errno)));
    if (child_ != 0) return;
    channel_.reset();
    serve(wanted, theirs.get());
}

peer_process::~peer_process() {
    channel_.reset();
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

std::vector<std::byte> peer_process::address() const {
    std::vector<std::byte> bytes(max_address);
    const ssize_t length = ::recv(channel_.get(), bytes.data(), bytes.size(), 0);
    if (length <= 0) throw failure("the peer process did not come up");
    bytes.resize(static_cast<std::size_t>(length));
    return bytes;
}

}  // namespace tools::info
