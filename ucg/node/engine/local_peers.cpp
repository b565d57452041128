#include "ucg/node/engine/local_peers.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "ucs/random/random_bytes.hpp"

namespace ucg::node {

process_identity process_identity::own() noexcept {
    static const std::uint64_t cookie = ucs::sys::random_id();
    return {::getpid(), reinterpret_cast<std::uintptr_t>(&cookie), cookie};
}

bool local_peers::can_read_all() const noexcept {
    for (rank_t rank = 0; rank < ranks_.size(); ++rank)
        if (read(rank, 0, nullptr, 0) != UCS_OK) return false;
    return true;
}

// Each call reads the cookie, so that another process with the same pid is detected.
ucs_status_t local_peers::read(rank_t from, std::uint64_t address, void* into,
                               std::size_t bytes) const noexcept {
    const process_identity& process = ranks_[from];
    do {
        std::uint64_t cookie = 0;
        const iovec local[] = {{&cookie, sizeof cookie}, {into, bytes}};
        const iovec remote[] = {{reinterpret_cast<void*>(process.cookie_address), sizeof cookie},
                                {reinterpret_cast<void*>(address), bytes}};
        const ssize_t got =
            ::process_vm_readv(static_cast<pid_t>(process.pid), local, 2, remote, 2, 0);
        if (got < 0) return errno == ESRCH ? UCS_ERR_ENDPOINT_TIMEOUT : UCS_ERR_IO_ERROR;
        if (static_cast<std::size_t>(got) < sizeof cookie || cookie != process.cookie)
            return UCS_ERR_ENDPOINT_TIMEOUT;
        const std::size_t bytes_read = static_cast<std::size_t>(got) - sizeof cookie;
        if (bytes_read == 0 && bytes != 0) return UCS_ERR_IO_ERROR;
        address += bytes_read;
        into = static_cast<std::byte*>(into) + bytes_read;
        bytes -= bytes_read;
    } while (bytes != 0);
    return UCS_OK;
}

}  // namespace ucg::node
