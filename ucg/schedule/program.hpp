// What an operation can run beside the algorithms of collectives.
#pragma once

#include <cstdint>

#include "ucg/schedule/task.hpp"

namespace ucg::schedule {

// One rank's part in something that all ranks of a group do. Holds its own arguments and memory;
// outlives the operations that run it. Owner context.
class program {
public:
    program() = default;
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    virtual ~program() = default;

    // The coroutine, which has not begun. Called once for each start.
    [[nodiscard]] virtual task run(member& me) noexcept = 0;

    // A hash of what all ranks must give alike, for those who compare it. 0: there is nothing to
    // compare, as where this rank's arguments were refused.
    [[nodiscard]] virtual std::uint64_t form() const noexcept { return 0; }
};

}  // namespace ucg::schedule
