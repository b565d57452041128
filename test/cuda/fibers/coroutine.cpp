#include "test/cuda/fibers/coroutine.hpp"

#include <memory>
#include <utility>

#include "test/cuda/fibers/stack_pool.hpp"

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#include <sanitizer/common_interface_defs.h>
#else
#define HAS_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#include <sanitizer/tsan_interface.h>
#else
#define HAS_THREAD_SANITIZER 0
#endif

namespace fibers {

coroutine::~coroutine() {
#if HAS_THREAD_SANITIZER
    if (sanitizers_.inside_thread != nullptr) __tsan_destroy_fiber(sanitizers_.inside_thread);
#endif
}

void coroutine::start(std::function<void()> body) {
    body_ = std::move(body);
    is_started_ = true;
    stack_ = take_stack();
#if HAS_THREAD_SANITIZER
    sanitizers_.inside_thread = __tsan_create_fiber(0);
#endif
    inside_ = boost::context::fiber(std::allocator_arg, pooled_stack{stack_},
                                    [this](boost::context::fiber&& outside) {
                                        after_entering();
                                        outside_ = std::move(outside);
                                        body_();
                                        before_leaving(true);
                                        return std::move(outside_);
                                    });
    resume();
}

void coroutine::resume() {
    before_entering();
    inside_ = std::move(inside_).resume();
    after_leaving();
}

void coroutine::suspend() {
    before_leaving(false);
    outside_ = std::move(outside_).resume();
    after_entering();
}

void coroutine::before_entering() noexcept {
#if HAS_ADDRESS_SANITIZER
    const auto* const top = static_cast<const char*>(stack_.sp);
    __sanitizer_start_switch_fiber(&sanitizers_.outside_fake_stack, top - stack_.size, stack_.size);
#endif
#if HAS_THREAD_SANITIZER
    sanitizers_.outside_thread = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(sanitizers_.inside_thread, 0);
#endif
}

void coroutine::after_entering() noexcept {
#if HAS_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(sanitizers_.inside_fake_stack, &sanitizers_.outside_bottom,
                                    &sanitizers_.outside_length);
#endif
}

void coroutine::before_leaving([[maybe_unused]] bool is_last) noexcept {
#if HAS_ADDRESS_SANITIZER
    // Null frees the fake stack of a body that ends.
    __sanitizer_start_switch_fiber(is_last ? nullptr : &sanitizers_.inside_fake_stack,
                                   sanitizers_.outside_bottom, sanitizers_.outside_length);
#endif
#if HAS_THREAD_SANITIZER
    __tsan_switch_to_fiber(sanitizers_.outside_thread, 0);
#endif
}

void coroutine::after_leaving() noexcept {
#if HAS_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(sanitizers_.outside_fake_stack, nullptr, nullptr);
#endif
}

}  // namespace fibers
