// What a sanitizer takes away from tests.
#pragma once

namespace test {

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
inline constexpr bool instrumented = true;  // and many times slower
#else
inline constexpr bool instrumented = false;
#endif
// Else malloc is the sanitizer's, which asks the kernel itself.
inline constexpr bool has_allocator_of_libc = !instrumented;
#undef HAS_FEATURE

}  // namespace test
