// Endpoint of the simulated transport.
#pragma once

#include "uct/sim/iface.hpp"

namespace uct::sim {

// Posts operations on a link of the fabric. Checks the arguments against the interface's limits and
// refuses invalid calls, because the simulation exists to find mistakes of the callers. Owner
// context.
class sim_ep : public base_ep {
public:
    sim_ep(sim_iface& owner, fabric& network, node_id target);
    ~sim_ep() override;

    ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override;
    ssize_t am_bcopy(am_id id, pack_function pack, void* arg) override;
    ucs_status_t am_zcopy(am_id id, std::span<const std::byte> header, std::span<const iov> payload,
                          completion* done) override;
    ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                           completion* done) override;
    ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                           completion* done) override;
    ucs_status_t flush(completion* done) override;
    std::string peer_name() const override { return "node " + std::to_string(link_->to); }

protected:
    [[nodiscard]] ucs_status_t refuse(const char* call, const char* why) const;
    [[nodiscard]] ucs_status_t admit_message(op kind, am_id id, const char* call);
    fabric& fabric_;
    link_ptr link_;

private:
    ucs_status_t access(op_kind kind, std::span<const iov> pieces, std::uint64_t remote_address,
                        completion* done);
    [[nodiscard]] bool ends_at_once(const completion* done);
};

}  // namespace uct::sim
