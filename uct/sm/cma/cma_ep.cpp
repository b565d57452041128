#include "uct/sm/cma/cma_ep.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "uct/base/log.hpp"

namespace uct::cma {

cma_ep::cma_ep(base_iface& owner, const sm::cma_address& peer, std::size_t limit) noexcept
    : base_ep(owner),
      peer_{static_cast<pid_t>(peer.pid), peer.cookie_at, peer.cookie},
      limit_(limit) {}

ucs_status_t cma_ep::get_zcopy(std::span<const iov> into, const remote_place& from, completion*) {
    if (refused_) return UCS_ERR_UNSUPPORTED;
    const copy_outcome outcome = has_pid_been_reused()
                                     ? copy_outcome{copy_outcome::kind::other_process}
                                     : read_remote(peer_, from.address, into, limit_);
    return check_outcome(outcome, "process_vm_readv", from.address, total_length(into));
}

ucs_status_t cma_ep::put_zcopy(std::span<const iov> from, const remote_place& to, completion*) {
    if (refused_) return UCS_ERR_UNSUPPORTED;
    const copy_outcome outcome = has_pid_been_reused()
                                     ? copy_outcome{copy_outcome::kind::other_process}
                                     : write_remote(peer_, to.address, from, limit_);
    return check_outcome(outcome, "process_vm_writev", to.address, total_length(from));
}

bool cma_ep::bind_to(const ucs::sys::process_identity& shown) noexcept {
    if (shown.pid != peer_.pid) return false;
    start_time_ = shown.start_time;
    next_check_ = 0;
    return true;
}

// The peer chose the cookie, and may have guessed the content of another process's memory. So the
// process is checked with the kernel, too. This takes long, so it is done only once in a while:
// before a process id is reused, thousands of other ids are used.
bool cma_ep::has_pid_been_reused() noexcept try {
    constexpr ucs::time::nanoseconds pause = 50 * ucs::time::millisecond;
    if (start_time_ == 0) return false;
    const ucs::time::nanoseconds now = ucs::time::now();
    if (now < next_check_) return false;
    next_check_ = now + pause;
    return ucs::sys::start_time(peer_.pid) != start_time_;
} catch (const std::bad_alloc&) {
    return true;
}

ucs_status_t cma_ep::check_outcome(const copy_outcome& outcome, const char* call,
                                   std::uint64_t remote_address, std::size_t length) {
    switch (outcome.type) {
        case copy_outcome::kind::done:
            count(length);
            return UCS_OK;
        case copy_outcome::kind::bad_address:
            // The caller knows whether the memory must exist.
            ucs::log::diag(cma_log, "{}({}, address {:#x}, {} bytes) failed: {}", call, peer_name(),
                           remote_address, length, std::strerror(outcome.error));
            return UCS_ERR_INVALID_ADDR;
        case copy_outcome::kind::refused:
        case copy_outcome::kind::other_process:
            break;
    }
    refused_ = true;
    ucs::log::diag(cma_log, "{}: no single copy, {} is refused: {}", peer_name(), call,
                   outcome.type == copy_outcome::kind::other_process
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
