// Endpoint of the rc_verbs transport.
#pragma once

#include "uct/ib/rc/base/ep.hpp"
#include "uct/ib/rc/verbs/iface.hpp"

namespace uct::rc {

// Builds work requests and posts them. Owner context.
class verbs_ep final : public ep {
public:
    using ep::ep;

    ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override;
    ssize_t am_bcopy(am_id id, pack_function pack, void* arg) override;
    ucs_status_t am_zcopy(am_id id, std::span<const std::byte> header, std::span<const iov> payload,
                          completion* done) override;
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
    // Messages are in ep_messages.cpp, remote memory in ep_memory.cpp, atomics in ep_atomics.cpp.
    [[nodiscard]] verbs_iface& own() noexcept { return static_cast<verbs_iface&>(iface_); }
    ucs_status_t copied_short(am_id id, std::uint64_t header, const void* payload,
                              std::size_t length);
    ucs_status_t access(ibv_wr_opcode opcode, std::span<const iov> pieces,
                        const remote_place& where, completion* done);
    // Ends an operation whose descriptor was posted, or could not be posted.
    ucs_status_t begun(direct& op, ucs_status_t status, std::size_t length,
                       completion* done) noexcept;
    static void go_on(tx_op& self) noexcept;
    ucs_status_t ask(direct& op) noexcept;
};

}  // namespace uct::rc
