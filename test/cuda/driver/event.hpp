// Events: points in streams that a program waits for.
#pragma once

#include <functional>

#include "test/cuda/driver/stream.hpp"

namespace standin {

// Owned by the table of events. The lock guards it.
struct event {
    CUevent handle;
    context_ref owner;
    bool has_time;
    bool is_recorded = false;
    // The latest record. Without a stream, the event represents no work.
    marker recorded;
    // When the latest record was reached. Shared with its operation.
    std::shared_ptr<std::uint64_t> reached_ns;
};

// Forgets the events of a context.
void drop_events(const context& dying);

// Calls the visitor with each event.
void for_each_event(const std::function<void(const event&)>& visitor);

}  // namespace standin
