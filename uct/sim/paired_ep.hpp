// Simulated endpoint that is paired with one other endpoint, like an RC queue pair.
#pragma once

#include "uct/sim/ep.hpp"

namespace uct::sim {

// The endpoint sends nothing before connect_to. After that, its messages are retransmitted until
// the partner is connected, too, or the retransmissions are used up. It sends a goodbye when it is
// destroyed. A failed endpoint sends none, and its partner fails with its next message. Owner
// context.
class paired_ep final : public sim_ep {
public:
    using sim_ep::sim_ep;
    static constexpr std::size_t connection_length = fabric::connection_length;

    void pack_connection(std::span<std::byte> into) const override {
        fabric_.pack_connection(*link_, into);
    }
    ucs_status_t connect_to(std::span<const std::byte> data) override;
    void check() noexcept override { fabric_.check(link_); }
    void abort() noexcept override { fabric_.abort(link_); }

    ucs_status_t am_zcopy(am_id id, std::span<const std::byte> header, std::span<const iov> payload,
                          completion* done) override {
        if (fabric_.refuses_memory()) return UCS_ERR_NO_MEMORY;
        return sim_ep::am_zcopy(id, header, payload, done);
    }

    // Memory is accessed some time before the operation ends, in any order.
    ucs_status_t put_short(const void* from, std::size_t length, const remote_place& to) override;
    ssize_t put_bcopy(pack_function pack, void* arg, const remote_place& to) override;
    ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                           completion* done) override;
    ucs_status_t put_zcopy_and_notify(std::span<const iov> from, const remote_place& to, am_id id,
                                      std::span<const std::byte> message,
                                      completion* done) override;
    ucs_status_t get_bcopy(void* into, std::size_t length, const remote_place& from,
                           completion* done) override;
    ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                           completion* done) override;
    ucs_status_t atomic(const atomic_op& change, const remote_place& place, void* before,
                        completion* done) override;

private:
    [[nodiscard]] ucs_status_t admit_access(op operation, std::size_t length, std::size_t limit,
                                            const char* call);
    ucs_status_t move_pieces(op_kind kind, std::span<const iov> pieces, const remote_place& where,
                             completion* done);
};

}  // namespace uct::sim
