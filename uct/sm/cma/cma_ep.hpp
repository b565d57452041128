// Reads and writes the memory of one process.
#pragma once

#include "ucs/time/clock.hpp"
#include "uct/base/base_ep.hpp"
#include "uct/sm/base/address.hpp"
#include "uct/sm/cma/remote_copy.hpp"

namespace uct::cma {

// Endpoint of the cma transport: single copy by the kernel, done when the call returns. A peer
// that does not let us in makes every operation return UCS_ERR_UNSUPPORTED from then on, which is
// no failure: the caller copies in another way. Owned by the protocol layer, owner context.
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
    ucs_status_t judge(const copy_outcome& outcome, const char* call, std::uint64_t remote_address,
                       std::size_t length);

    [[nodiscard]] bool is_in_new_hands() noexcept;

    const remote_process peer_;
    const std::size_t limit_;
    std::uint64_t start_time_ = 0;  // of the process that it is bound to
    ucs::time::nanoseconds next_look_ = 0;
    bool refused_ = false;
};

}  // namespace uct::cma
