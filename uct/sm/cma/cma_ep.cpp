#include "uct/sm/cma/cma_ep.hpp"

#include <fmt/format.h>

#include <cstring>

#include "uct/sm/cma/log.hpp"

namespace uct::cma {

cma_ep::cma_ep(base_iface& owner, const sm::cma_address& peer, std::size_t limit) noexcept
    : base_ep(owner),
      peer_{static_cast<pid_t>(peer.pid), peer.cookie_at, peer.cookie},
      limit_(limit) {}

ucs_status_t cma_ep::get_zcopy(std::span<const iov> into, const remote_place& from, completion*) {
    if (refused_) return UCS_ERR_UNSUPPORTED;
    return judge(read_remote(peer_, from.address, into, limit_), "process_vm_readv", from.address,
                 total_length(into));
}

ucs_status_t cma_ep::put_zcopy(std::span<const iov> from, const remote_place& to, completion*) {
    if (refused_) return UCS_ERR_UNSUPPORTED;
    return judge(write_remote(peer_, to.address, from, limit_), "process_vm_writev", to.address,
                 total_length(from));
}

ucs_status_t cma_ep::judge(const copy_outcome& outcome, const char* call,
                           std::uint64_t remote_address, std::size_t length) {
    switch (outcome.type) {
        case copy_outcome::kind::done:
            count(length);
            return UCS_OK;
        case copy_outcome::kind::bad_address:
            // The caller knows whether the memory had to be there.
            ucs::log::diag(cma_log, "{}({}, address {:#x}, {} bytes) failed: {}", call, peer_name(),
                           remote_address, length, std::strerror(outcome.error));
            return UCS_ERR_INVALID_ADDR;
        case copy_outcome::kind::refused:
        case copy_outcome::kind::stranger:
            break;
    }
    refused_ = true;
    ucs::log::diag(cma_log, "{}: no single copy, {} is refused: {}", peer_name(), call,
                   outcome.type == copy_outcome::kind::stranger
                       ? "the process id belongs to another process now"
                       : std::strerror(outcome.error));
    return UCS_ERR_UNSUPPORTED;
}

std::string cma_ep::peer_name() const {
    return fmt::format("pid {}", peer_.pid);
}

void cma_ep::describe(ucs::vfs::directory& into) const {
    base_ep::describe(into);
    into.file("refused", [this] { return std::string(refused_ ? "y" : "n"); });
}

}  // namespace uct::cma
