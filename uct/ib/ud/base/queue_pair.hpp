// The one queue pair of an interface of unreliable datagrams.
#pragma once

#include "uct/ib/base/device/path.hpp"
#include "uct/ib/base/memory/domain.hpp"
#include "uct/ib/ud/base/settings.hpp"

namespace uct::ud {

// Sends to all peers, and receives from all peers that know its number and key. Owned by the
// interface; owner context.
class queue_pair {
public:
    struct setup {
        ib::domain& on;
        const ib::path_setup& port;
        const settings& options;
        ibv_cq& sends;
        ibv_cq& receives;
        ibv_srq& shared;
    };
    // Returns a queue pair that is ready to send. Failures are logged.
    static ucs::result<queue_pair> create(const setup& with);

    // Restarts the send queue after a work request that failed has stopped it.
    ucs_status_t resume() noexcept;
    void destroy() noexcept { pair_.reset(); }

    [[nodiscard]] ibv_qp& get() const noexcept { return *pair_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return pair_->qp_num; }
    [[nodiscard]] std::uint32_t key() const noexcept { return key_; }
    [[nodiscard]] std::uint32_t inline_bytes() const noexcept { return inline_; }
    [[nodiscard]] std::uint32_t pieces() const noexcept { return pieces_; }
    [[nodiscard]] std::uint32_t send_room() const noexcept { return send_room_; }

private:
    queue_pair(ib::pair_handle pair, const ibv_qp_cap& got, std::uint32_t key) noexcept;
    ucs_status_t make_ready(const ib::path_setup& port) noexcept;
    ucs_status_t move(ibv_qp_attr& attr, int mask, const char* to) noexcept;

    ib::pair_handle pair_;
    std::uint32_t inline_;
    std::uint32_t pieces_;
    std::uint32_t send_room_;
    std::uint32_t key_;
};

}  // namespace uct::ud
