// Detection of memory events by replacing functions of a library.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "ucm/hook/entry.hpp"

namespace ucm::hook {

// A function of a library, and its replacement. The members of the second half are written while
// the library is replaced, and read at any time by atomic accesses.
struct replaced_function {
    const char* name;
    int events = 0;  // kinds that are incomplete unless it is replaced; 0: it completes all kinds
    // Returns the address of the replacement's code. Null: the function is only looked up, for the
    // other replacements.
    const void* (*replacement)() noexcept = nullptr;
    bool calls_original = false;   // the replacement needs `original`
    bool may_be_absent = false;    // in older versions of the library
    bool only_if_chained = false;  // replaced only if another library has replaced it
    entry (*find)(std::uint8_t* code, std::size_t size) noexcept = find_entry;
    void (*on_found)(const entry& found) noexcept = nullptr;

    std::uint8_t* code = nullptr;           // null: not found
    std::size_t size = 0;                   // of the code
    const std::uint8_t* address = nullptr;  // of the jump
    const void* target = nullptr;           // of the jump
    // Code to call for the effect of the function: the function itself without our jump, and the
    // replacement that another library has installed before ours, or null. Only functions that
    // have been replaced with `calls_original` have the first.
    const void* original = nullptr;
    const void* chained = nullptr;
};

// Returns the address of a function's code, for `replaced_function::replacement`.
template<auto Function>
const void* code_of() noexcept {
    return reinterpret_cast<const void*>(Function);
}

// Reads `code`, `original` or `chained` as a function of the type `Function`.
template<class Function, class Byte>
Function function_at(Byte* const& code) noexcept {
    Byte* const now = __atomic_load_n(&code, __ATOMIC_ACQUIRE);
    return reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(now));
}

// A library some of whose functions are replaced. There is one object per library, which is never
// destroyed, because a thread may be executing a replacement at any time.
class replaced_library {
public:
    static constexpr std::size_t most_functions = 16;

    // `file` is the name of the library for dlopen. `functions` must outlive this object and are
    // written by it. `detectable` are the kinds of events that replacing them can detect.
    template<std::size_t Count>
    constexpr replaced_library(const char* file, replaced_function (&functions)[Count],
                               int detectable) noexcept
        : file_(file), first_(functions), count_(Count), detectable_(detectable) {
        static_assert(Count <= most_functions);
    }
    replaced_library(const replaced_library&) = delete;
    replaced_library& operator=(const replaced_library&) = delete;

    // Replaces the functions that cause events of these kinds, unless they are replaced already or
    // the library is not in the process. Returns the kinds that are detected now. Replaced
    // functions stay replaced until the process ends. Any thread, but not from a handler, because
    // finding functions uses the dynamic linker, which allocates.
    int install(int events) noexcept;

    // Replaces functions again that another library has replaced since, so that both replacements
    // are called. Any thread, also from a handler. Does nothing while another thread does it.
    void repair() noexcept;

    // Call in the child of a fork, where a thread that was installing does not exist.
    void forget_other_threads() noexcept;

    // Returns the kinds that are detected now. Any thread, also from a handler.
    [[nodiscard]] int installed() const noexcept;

private:
    [[nodiscard]] bool is_loaded() const noexcept;
    void look_up() noexcept;
    void replace(int events) noexcept;

    const char* file_;
    replaced_function* first_;
    std::size_t count_;
    int detectable_;
    int loaded_ = 0;   // 1: the functions have been looked up
    int wanted_ = 0;   // kinds that install was called for
    int repairs_ = 0;  // calls of repair that had something to do
    pthread_mutex_t installing_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace ucm::hook
