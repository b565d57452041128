// A program: an algorithm that is not a row of the table, and that an operation can run.
#pragma once

#include <cstdint>

#include "ucg/schedule/task.hpp"

namespace ucg::schedule {

// One rank's part in an exchange in which all ranks of a group take part. It holds its own
// arguments and memory, and outlives the operations that run it. Owner context.
class program {
public:
    program() = default;
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    virtual ~program() = default;

    // Returns the coroutine, which has not begun. Called once for each start.
    [[nodiscard]] virtual task run(member& me) noexcept = 0;

    // Returns a hash of the arguments that must be the same on all ranks, for callers that compare
    // it. 0: there is nothing to compare, for example because this rank's arguments are invalid.
    [[nodiscard]] virtual std::uint64_t form() const noexcept { return 0; }
};

}  // namespace ucg::schedule
