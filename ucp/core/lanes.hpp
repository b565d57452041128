// The lanes to a remote worker: transport endpoints that all endpoints to it share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ucp/core/rail_share.hpp"
#include "ucp/core/rma_state.hpp"
#include "ucp/mem/device_domains.hpp"
#include "uct/api/ep.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// A transport endpoint to a peer.
struct lane {
    std::unique_ptr<uct::ep> endpoint;
    uct::iface* iface = nullptr;
    std::size_t resource = 0;
    std::uint8_t own_device = mem::no_device;  // number by which our keys name our device
    std::uint8_t device = mem::no_device;      // number by which the peer's keys name its device
    rail_share share{};  // this lane's part of long transfers over several rails

    [[nodiscard]] bool is_open() const noexcept { return endpoint != nullptr; }
    [[nodiscard]] const uct::iface_attr& attr() const noexcept { return iface->attr(); }
    [[nodiscard]] uct::memory_domain* domain() const noexcept { return iface->domain(); }
};

// Returns the packed address of an interface, and the connection data of a lane.
[[nodiscard]] std::vector<std::byte> address_of(const uct::iface& iface);
[[nodiscard]] std::vector<std::byte> connection_of(const lane& used);

// The lanes to one peer. wireup::lane_setup makes and closes them; other code only uses them.
struct peer_lanes {
    lane message;                  // carries all messages
    lane memory;                   // accesses the peer's memory, unless the message lane does
    lane bootstrap;                // carries connection data and refusals of paired lanes
    std::vector<lane> more_rails;  // in addition to `message`, if that reaches memory by keys
    lane device;                   // accesses memory of the peer's devices, beside the others
    bool is_shared = false;        // the message lane accesses memory as well
    rma_state state = rma_state::usable;

    [[nodiscard]] bool is_open() const noexcept { return message.is_open(); }
    [[nodiscard]] uct::ep& am() const noexcept { return *message.endpoint; }
    [[nodiscard]] const uct::iface_attr& am_attr() const noexcept { return message.attr(); }
    [[nodiscard]] bool carries_messages(const uct::ep& over) const noexcept {
        return &over == message.endpoint.get();
    }
    // The lane that accesses the peer's memory; may be the message lane. nullptr: there is none, or
    // it is not used (see rma_state).
    [[nodiscard]] uct::ep* rma() const noexcept {
        return state == rma_state::usable ? rma_place().endpoint.get() : nullptr;
    }
    [[nodiscard]] uct::ep& rma_lane() const noexcept { return *rma_place().endpoint; }
    [[nodiscard]] const uct::iface_attr& rma_attr() const noexcept { return rma_place().attr(); }
    // Number by which the peer's keys name the device that this lane reaches, if it needs one.
    [[nodiscard]] std::uint8_t rma_device() const noexcept { return rma_place().device; }

    // Rails are the lanes that reach memory by keys, see ucp/proto/striped.hpp. 0: no keys are
    // needed. The first rail is rma_lane().
    [[nodiscard]] std::size_t rail_count() const noexcept {
        return rma() != nullptr && rma_attr().keyed ? 1 + more_rails.size() : 0;
    }
    [[nodiscard]] const lane& rail(std::size_t index) const noexcept {
        return index == 0 ? rma_place() : more_rails[index - 1];
    }
    // Returns nullptr when the lane is gone.
    [[nodiscard]] rail_share* share_of(const uct::ep& rail) noexcept;
    // See uct::ep::received.
    [[nodiscard]] std::uint64_t received() const noexcept {
        return is_open() ? message.endpoint->received() : 0;
    }
    // Ends the peer's access to our memory over the lanes.
    void abort() noexcept;
    // Name of the peer's end of the message lane, for display.
    [[nodiscard]] std::string peer_name() const noexcept;

    // The lane of rma(), whether or not it is used.
    [[nodiscard]] const lane& rma_place() const noexcept { return is_shared ? message : memory; }
};

}  // namespace ucp
