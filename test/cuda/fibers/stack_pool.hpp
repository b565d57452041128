// Stacks of coroutines with a guard page below, which are used again and kept until the process
// ends.
#pragma once

#include <boost/context/stack_context.hpp>
#include <utility>

namespace fibers {

// Any thread.
[[nodiscard]] boost::context::stack_context take_stack();
void return_stack(const boost::context::stack_context& stack);

// The allocator that boost::context expects.
struct pooled_stack {
    boost::context::stack_context stack;

    [[nodiscard]] boost::context::stack_context allocate() const { return stack; }
    static void deallocate(const boost::context::stack_context& returned) noexcept {
        return_stack(returned);
    }
};

}  // namespace fibers
