// One simulated connection and its operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "uct/api/atomic.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/sim/parameters.hpp"

namespace uct::sim {

class sim_ep;
struct node;

enum class op_kind : std::uint8_t {
    message,
    get,
    put,
    flush,
    atomic,
    // Between paired endpoints only. They travel like messages, and no handler is called:
    probe,    // only its acknowledgement matters
    goodbye,  // the endpoint was destroyed
};

// One posted operation. Shared by the link's lists and by the events that refer to it.
struct operation {
    op_kind kind = op_kind::message;
    am_id id = 0;
    std::uint64_t serial = 0;
    completion* done = nullptr;

    // A message has `length` bytes in an allocation of exactly that size, the first `copied` of
    // which are filled in. The rest is read from `pieces` as late as possible, to detect callers
    // that reuse their buffer too early. A remote access has only pieces and an address; with a key
    // it also has `data`, which is what the network carries.
    std::unique_ptr<std::byte[]> data;
    std::size_t length = 0;
    std::size_t copied = 0;
    std::vector<iov> pieces;
    std::uint64_t remote_address = 0;
    std::uint32_t key = 0;
    atomic_op change;

    std::shared_ptr<operation>
        first;            // a write that is carried out just before this message arrives
    bool served = false;  // a remote access was carried out

    // Reads the pieces into the message.
    void gather() noexcept;
    // Moves the bytes of a get or put.
    void access_remote() const noexcept;
    // An access with a key: what happens at the target, and what the sender receives.
    void serve() noexcept;
    void take_result() noexcept;
};

using operation_ptr = std::shared_ptr<operation>;

// State of one endpoint's connection. It lives as long as the endpoint or an event needs it, so
// that messages of a destroyed endpoint still arrive. Used by the thread of the simulation.
struct link {
    link(std::uint64_t number_, const node& from_, node_id to_, sim_ep* owner_) noexcept;

    const std::uint64_t number;
    const std::uint64_t connection = next_connection_number();  // see iface::connection_of
    const node_id from;
    const node_id to;
    const bool paired;
    sim_ep* owner;  // nullptr once the endpoint was destroyed
    ucs_status_t failure = UCS_OK;

    ucs::time::nanoseconds connected_at = 0;
    ucs::time::nanoseconds last_arrival = 0;
    std::uint64_t next_serial = 0;

    std::vector<operation_ptr> outstanding;  // not completed at the sender, including flushes
    std::deque<operation_ptr> wire;          // messages in flight, one arrival event each
    std::deque<operation_ptr> arrived;       // messages in the receiver's queue

    // Landing of the first arrived message.
    bool landing = false;
    std::size_t landed = 0;

    // For a paired link, the number of the link that its endpoint was connected to.
    std::optional<std::uint64_t> partner;
    ucs::time::nanoseconds unreachable_since = 0;  // 0: the last message was accepted

    // Returns true if the endpoint is connected to its partner, or needs none.
    [[nodiscard]] bool bound() const noexcept { return !paired || partner.has_value(); }

    // Operations that count against the window.
    [[nodiscard]] std::size_t window_use() const noexcept;

    [[nodiscard]] bool in_flight(const operation& op) const noexcept;

    // Removes an operation from `outstanding`. Returns false if it had ended before.
    bool end(const operation& op) noexcept;

    // Removes and returns the flushes that have nothing left to wait for.
    [[nodiscard]] std::vector<operation_ptr> take_finished_flushes();
};

using link_ptr = std::shared_ptr<link>;

}  // namespace uct::sim
