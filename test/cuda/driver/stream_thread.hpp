// The threads that run the operations of streams.
#pragma once

#include "test/cuda/driver/stream.hpp"

namespace standin {

// Starts the thread of a stream. It ends when the stream or its context is destroyed and no
// operation is left. The lock is held.
void start_thread(const stream_ref& on);

// Returns true while no stream begins an operation. The lock is held.
[[nodiscard]] bool are_streams_paused() noexcept;

}  // namespace standin
