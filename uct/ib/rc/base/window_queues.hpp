// Creation of the queue pair that binds memory windows.
#pragma once

#include "uct/ib/base/memory/memory_windows.hpp"
#include "uct/ib/rc/base/queue_pair.hpp"

namespace uct::rc {

// Creates a queue pair that is connected to itself over the port, because only a connected queue
// pair accepts requests, and its queues. `own`: the port's address. Failures are logged.
[[nodiscard]] ucs::result<ib::memory_windows::queues> make_window_queues(
    const queue_pair::setup& port, const ib::address& own) noexcept;

}  // namespace uct::rc
