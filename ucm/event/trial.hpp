// Checks which memory events arrive, by changing a page of memory.
#pragma once

namespace ucm {

// Makes the C library's calls that cause these kinds of events, and returns the kinds of which an
// event arrived. UCM_EVENT_BRK and UCM_EVENT_SBRK count as arrived without a call: the program
// break belongs to the allocators of all threads. So do UCM_EVENT_SHMAT and UCM_EVENT_SHMDT where
// the system grants no shared memory segment, and memory of GPUs, which only a program with a
// context can allocate. Any thread, but not from a handler.
[[nodiscard]] int kinds_that_arrive(int events) noexcept;

}  // namespace ucm
