// Operations that have work to do when their work requests complete.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/types.hpp"

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

}  // namespace uct::rc
