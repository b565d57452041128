// Operations that have work to do when their work requests complete.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/types.hpp"
#include "uct/ib/base/credits.hpp"

namespace uct::rc {

class connection;

// An operation waits in its connection until the work request of its number has completed, and then
// in the interface until progress calls `finish`. Most requests have none: a short message needs no
// work at its end. Allocated from a pool; owner context.
struct tx_op {
    ucs::datastruct::queue_hook hook;
    std::uint32_t number = 0;
    ucs_status_t status = UCS_OK;
    // A caller waits for the end, so the operation ends before its endpoint does.
    bool for_user = false;
    // The device may still access the program's memory.
    bool holds_memory = false;
    connection* conn = nullptr;
    completion* done = nullptr;
    // Called once, with the result in `status`. Returns the operation to its pool.
    void (*finish)(tx_op& self) noexcept = nullptr;
};

using op_queue = ucs::datastruct::queue<tx_op, &tx_op::hook>;

// An operation of several work requests, one after the other. It has not ended while it is in its
// connection's list.
struct stepped_op : tx_op {
    ucs::datastruct::auto_unlink_hook stepped_hook;
    std::uint32_t order = 0;  // position among the operations of its connection
};
using stepped_list = ucs::datastruct::auto_list<stepped_op, &stepped_op::stepped_hook>;

// The operations of a connection that have not ended. Those that end are put into a queue of the
// interface. Owned by the connection; owner context.
class operations {
public:
    explicit operations(op_queue& ended) noexcept : ended_(ended) {}

    // Adds an operation that ends with the work request of its number.
    void add(tx_op& op) noexcept { queue_.push_back(op); }
    // Adds an operation that has begun. Flushes wait for it until it leaves the list.
    void add_stepped(stepped_op& op) noexcept {
        op.order = ++stepped_count_;
        stepped_.push_back(op);
    }
    // Return the number of such operations that have begun, and whether one of the first `first` of
    // them has not ended.
    [[nodiscard]] std::uint32_t stepped_count() const noexcept { return stepped_count_; }
    [[nodiscard]] bool is_stepping(std::uint32_t first) const noexcept {
        return !stepped_.empty() && static_cast<std::int32_t>(stepped_.front().order - first) <= 0;
    }
    // Returns true if the device may still access memory of the program.
    [[nodiscard]] bool hold_memory() const noexcept;

    // Ends the operations whose requests are complete. The request of that number has ended with
    // that status.
    void end_complete(const ib::send_credits& credits, std::uint32_t number,
                      ucs_status_t status) noexcept {
        if (!queue_.empty()) end_first(credits, number, status);
    }
    // Ends the operations that only wait, because their endpoint is destroyed.
    void cancel_flushes(ucs_status_t status) noexcept { cancel(false, status); }
    // Ends all operations. The device must be done with their memory.
    void cancel_all(ucs_status_t status) noexcept { cancel(true, status); }

private:
    void end_first(const ib::send_credits& credits, std::uint32_t number,
                   ucs_status_t status) noexcept;
    void cancel(bool all, ucs_status_t status) noexcept;

    op_queue& ended_;
    op_queue queue_;
    stepped_list stepped_;  // in the order in which they began
    std::uint32_t stepped_count_ = 0;
};

}  // namespace uct::rc
