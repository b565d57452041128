#include "test/cuda/fibers/stack_pool.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <mutex>
#include <vector>

namespace fibers {
namespace {

constexpr std::size_t stack_bytes = 128 * 1024;

struct pool {
    std::mutex lock;
    std::vector<boost::context::stack_context> free;
};

// Never destroyed: threads may end after static objects.
pool& stacks() {
    static pool* const made = new pool;
    return *made;
}

}  // namespace

boost::context::stack_context take_stack() {
    pool& from = stacks();
    {
        const std::lock_guard guard(from.lock);
        if (!from.free.empty()) {
            const auto stack = from.free.back();
            from.free.pop_back();
            return stack;
        }
    }
    return boost::context::protected_fixedsize_stack(stack_bytes).allocate();
}

void return_stack(const boost::context::stack_context& stack) {
    pool& to = stacks();
    const std::lock_guard guard(to.lock);
    to.free.push_back(stack);
}

}  // namespace fibers
