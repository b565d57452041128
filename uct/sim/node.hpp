// The fabric's state of a simulated interface.
#pragma once

#include <deque>
#include <map>

#include "uct/sim/link.hpp"
#include "uct/sim/regions.hpp"

namespace uct::sim {

// An event that waits for the interface's next progress.
struct due_item {
    enum class kind : std::uint8_t { message, completion, failure, connected } type;
    link_ptr conn;
    operation_ptr op;  // of a completion
};

// Owned by the fabric. Lives as long as the fabric, also after its interface is closed.
struct node {
    node(node_id id_, std::uint64_t uid, bool in_pairs) noexcept
        : id(id_), worker_uid(uid), paired(in_pairs) {}

    const node_id id;
    const std::uint64_t worker_uid;
    const bool paired;  // it has paired endpoints
    bool alive = true;
    bool killed = false;  // killed, not only closed
    bool cut = false;     // disconnected from the network

    std::shared_ptr<const regions> memory;  // accessible to peers by keys

    std::deque<due_item> due;
    std::size_t queued_messages = 0;        // counts against parameters::rx_queue
    std::deque<link_ptr> held_back;         // one entry for each message that found the queue full
    std::map<std::uint64_t, link_ptr> out;  // links of its endpoints, by number
    std::map<std::uint64_t, link_ptr> in;   // links of endpoints that point here
};

}  // namespace uct::sim
