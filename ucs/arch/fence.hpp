// A full memory fence: every processor sees the loads and stores before it before those after it.
#pragma once

namespace ucs::arch {

// Used instead of std::atomic_thread_fence, which GCC does not compile for ThreadSanitizer, because
// the sanitizer does not model fences. The builtin is the same instruction. It orders memory that
// is shared with other processes, which the sanitizer does not check.
inline void full_fence() noexcept {
    __sync_synchronize();
}

}  // namespace ucs::arch
