// The full memory fence: loads and stores before it are done, for every processor, before those
// after it.
#pragma once

namespace ucs::arch {

// Not std::atomic_thread_fence, which GCC refuses to compile for ThreadSanitizer: it does not know
// what a fence orders. The builtin is the same instruction; what it orders is memory of other
// processes, which the sanitizer does not look at.
inline void full_fence() noexcept {
    __sync_synchronize();
}

}  // namespace ucs::arch
