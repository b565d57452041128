// Features that are unavailable in a build with a sanitizer.
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
// Otherwise malloc belongs to the sanitizer, which maps memory itself.
inline constexpr bool has_allocator_of_libc = !instrumented;
#undef HAS_FEATURE

}  // namespace test
