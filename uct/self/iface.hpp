// Interface of the loopback transport.
#pragma once

#include "uct/base/base_iface.hpp"
#include "uct/self/message_ring.hpp"

namespace uct {

// Queues messages that the worker sends to itself until the next progress, so that no handler runs
// inside a send call. Owner context.
class self_iface final : public base_iface {
public:
    static constexpr std::size_t max_message = 8192;

    self_iface(const resource& where, const iface_params& params);

    unsigned progress() override;
    void pack_address(std::span<std::byte> into) const override;
    reachability check_reachable(std::span<const std::byte> address) const override;
    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;

    [[nodiscard]] bool has_work() const noexcept override {
        return messages_.count() > 0 || base_iface::has_work();
    }
    [[nodiscard]] ucs_status_t arm() noexcept override { return fall_asleep(); }

    [[nodiscard]] message_ring& messages() noexcept { return messages_; }
    // Called when another thread of the worker may send while one sleeps.
    void note_message() noexcept { note_work(); }

private:
    message_ring messages_;
};

}  // namespace uct
