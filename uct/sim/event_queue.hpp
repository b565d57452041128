// Queue of the future events of a simulation, in the order of virtual time.
#pragma once

#include <queue>

#include "uct/sim/link.hpp"

namespace uct::sim {

enum class action : std::uint8_t {
    connect,   // the link accepts operations from now on
    arrive,    // the first message on its wire reaches the receiver's queue
    access,    // a get or put touches memory
    complete,  // an operation ends at the sender
    fail,      // the link, or every link from `from` to `to`, fails with `status`
    die,       // all nodes of worker `worker_uid` die
    wake,      // only a reason to call progress
};

struct event {
    ucs::time::nanoseconds when = 0;
    std::uint64_t order = 0;  // breaks ties: random between links, never within a link
    action kind = action::wake;
    link_ptr conn{};
    operation_ptr op{};
    ucs_status_t status = UCS_OK;
    node_id from = 0;
    node_id to = 0;
    std::uint64_t worker_uid = 0;
};

// Heap of events. Owned by the fabric.
class event_queue {
public:
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
    [[nodiscard]] ucs::time::nanoseconds next_time() const { return heap_.top().when; }

    void push(event&& e) { heap_.push(std::move(e)); }

    event pop() {
        event first = heap_.top();
        heap_.pop();
        return first;
    }

private:
    struct later {
        bool operator()(const event& a, const event& b) const noexcept {
            return a.when != b.when ? a.when > b.when : a.order > b.order;
        }
    };
    std::priority_queue<event, std::vector<event>, later> heap_;
};

}  // namespace uct::sim
