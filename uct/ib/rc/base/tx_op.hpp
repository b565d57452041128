// Work requests that leave something to do when they complete.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/types.hpp"

namespace uct::rc {

class connection;

// Waits in its connection until the work request of its number has completed, and then in the
// interface until progress calls `finish`. Most requests have none: a short message leaves nothing
// behind. From a pool; owner context.
struct tx_op {
    ucs::datastruct::queue_hook hook;
    std::uint32_t number = 0;
    ucs_status_t status = UCS_OK;
    // Somebody waits for the end: it ends before its endpoint does.
    bool for_user = false;
    // The device may still touch the program's memory.
    bool holds_memory = false;
    connection* on = nullptr;
    completion* done = nullptr;
    // Called once, with the result in `status`; gives the operation back to its pool.
    void (*finish)(tx_op& self) noexcept = nullptr;
};

using op_queue = ucs::datastruct::queue<tx_op, &tx_op::hook>;

// One that may take several work requests, one after the other: while it is in its connection's
// list it is not over, whatever has completed.
struct stepped_op : tx_op {
    ucs::datastruct::auto_unlink_hook stepped_hook;
    std::uint32_t order = 0;  // among those of its connection
};
using stepped_list = ucs::datastruct::auto_list<stepped_op, &stepped_op::stepped_hook>;

}  // namespace uct::rc
