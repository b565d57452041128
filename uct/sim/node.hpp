// A simulated interface as the fabric sees it.
#pragma once

#include <deque>
#include <map>

#include "uct/sim/link.hpp"
#include "uct/sim/regions.hpp"

namespace uct::sim {

// Something that happened and waits for the interface's next progress.
struct due_item {
    enum class kind : std::uint8_t { message, completion, failure, connected } what;
    link_ptr on;
    operation_ptr which;  // of a completion
};

// Owned by the fabric, lives as long as it, also after its interface is gone.
struct node {
    node(node_id id_, std::uint64_t uid, bool in_pairs) noexcept
        : id(id_), worker_uid(uid), paired(in_pairs) {}

    const node_id id;
    const std::uint64_t worker_uid;
    const bool paired;  // its endpoints come in pairs
    bool alive = true;
    bool killed = false;  // not only closed
    bool cut = false;     // from the network

    std::shared_ptr<const regions> memory;  // that peers reach by keys

    std::deque<due_item> due;
    std::size_t queued_messages = 0;        // counts against parameters::rx_queue
    std::deque<link_ptr> held_back;         // an entry per message that found the queue full
    std::map<std::uint64_t, link_ptr> out;  // links of its endpoints, by number
    std::map<std::uint64_t, link_ptr> in;   // links of endpoints that point here
};

}  // namespace uct::sim
