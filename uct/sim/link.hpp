// One simulated connection and what is under way on it.
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
    // Of pairs only; they travel like messages, and nobody is told of their arrival:
    nothing,  // for its acknowledgement
    goodbye,  // the endpoint is gone
};

// One posted operation. Shared by the link's lists and by the events that refer to it.
struct operation {
    op_kind kind = op_kind::message;
    am_id id = 0;
    std::uint64_t serial = 0;
    completion* done = nullptr;

    // A message: `length` bytes of exactly that size, of which the first `copied` are filled in.
    // The rest is read from `pieces` as late as possible, to catch callers who reuse their
    // buffer too early. A remote access has only pieces and an address; by a key it has `data`,
    // too, which is what goes over the network.
    std::unique_ptr<std::byte[]> data;
    std::size_t length = 0;
    std::size_t copied = 0;
    std::vector<iov> pieces;
    std::uint64_t remote_address = 0;
    std::uint32_t key = 0;
    atomic_op change;

    std::shared_ptr<operation> first;  // a write that happens just before this message arrives
    bool served = false;               // a remote access has happened

    // Reads the pieces into the message.
    void gather() noexcept;
    // Moves the bytes of a get or put.
    void access_remote() const noexcept;
    // The same by a key: what happens at the target, and what the sender gets.
    void serve() noexcept;
    void take_answer() noexcept;
};

using operation_ptr = std::shared_ptr<operation>;

// State of one endpoint's connection. Lives as long as the endpoint or an event needs it, so that
// messages of a destroyed endpoint still arrive. Owner: whoever runs the simulation.
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

    std::vector<operation_ptr> outstanding;  // not ended at the sender, flushes included
    std::deque<operation_ptr> wire;          // messages on their way, one arrival event each
    std::deque<operation_ptr> arrived;       // messages in the receiver's queue

    // Landing of the first arrived message.
    bool landing = false;
    std::size_t landed = 0;

    // Of a pair: the number of the link that its endpoint was connected to.
    std::optional<std::uint64_t> partner;
    ucs::time::nanoseconds unheard_since = 0;  // 0: what was sent last found its partner

    // Whether its endpoint was told of its partner, if it has to be.
    [[nodiscard]] bool bound() const noexcept { return !paired || partner.has_value(); }

    // Operations that count against the window.
    [[nodiscard]] std::size_t window_use() const noexcept;

    [[nodiscard]] bool in_flight(const operation& which) const noexcept;

    // Takes an operation out of `outstanding`; false when it ended before.
    bool end(const operation& which) noexcept;

    // Takes the flushes out that wait for nothing any more.
    [[nodiscard]] std::vector<operation_ptr> take_finished_flushes();
};

using link_ptr = std::shared_ptr<link>;

}  // namespace uct::sim
