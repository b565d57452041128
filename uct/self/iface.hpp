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

// Sends to its own interface. Each operation ends in its call, so there is nothing to flush and no
// later failure. Owner context.
class self_ep final : public base_ep {
public:
    explicit self_ep(self_iface& owner) noexcept : base_ep(owner), messages_(owner.messages()) {}

    ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override;
    ssize_t am_bcopy(am_id id, pack_function pack, void* arg) override;
    ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                           completion* done) override;
    ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                           completion* done) override;
    std::string peer_name() const override { return "self"; }

private:
    // Returns space for a message, or nullptr if the ring is full or older sends wait.
    [[nodiscard]] message_ring::record* begin(std::size_t max_length) noexcept {
        if (must_queue()) return nullptr;
        static_cast<self_iface&>(iface_).note_message();
        return messages_.reserve(max_length);
    }

    message_ring& messages_;
};

}  // namespace uct
