// Endpoint of the cma transport.
#pragma once

#include "ucs/time/clock.hpp"
#include "uct/base/base_ep.hpp"
#include "uct/sm/base/address.hpp"
#include "uct/sm/cma/remote_copy.hpp"

namespace uct::cma {

// Reads and writes the memory of one process: single copy by the kernel, done when the call
// returns. If the peer's memory is not accessible, all further operations return
// UCS_ERR_UNSUPPORTED, which is no failure: the caller copies in another way. Owned by the protocol
// layer, owner context.
class cma_ep final : public base_ep {
public:
    cma_ep(base_iface& owner, const sm::cma_address& peer, std::size_t limit) noexcept;

    ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                           completion* done) override;
    ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                           completion* done) override;

    [[nodiscard]] bool bind_to(const ucs::sys::process_identity& shown) noexcept override;
    [[nodiscard]] std::string peer_name() const override;
    void describe(ucs::vfs::directory& into) const override;

private:
    ucs_status_t check_outcome(const copy_outcome& outcome, const char* call,
                               std::uint64_t remote_address, std::size_t length);

    [[nodiscard]] bool has_pid_been_reused() noexcept;

    const remote_process peer_;
    const std::size_t limit_;
    std::uint64_t start_time_ = 0;  // of the process that the endpoint is bound to
    ucs::time::nanoseconds next_check_ = 0;
    bool refused_ = false;
};

}  // namespace uct::cma
