#include "ucm/hook/install.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>

#include "ucm/api/ucm.h"
#include "ucm/hook/entry.hpp"
#include "ucm/hook/island.hpp"
#include "ucm/hook/patch.hpp"
#include "ucm/hook/replacements.hpp"
#include "ucm/hook/syscall_entry.hpp"

namespace ucm::hook {
namespace {

// The kinds of events that cannot be complete without the function.
struct replaced_function {
    const char* name;
    int events;
};

constexpr int both = UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED;

// In the order of `function`. The C library's sbrk calls brk; it is of interest only when another
// library has replaced it. So its own events, which tell the increment, are not noticed. Others'
// replacements call syscall, and so do programs; nothing depends on it as long as it is the only
// way.
constexpr replaced_function functions[function_count] = {
    {"mmap", UCM_EVENT_MMAP | both},
    {"munmap", UCM_EVENT_MUNMAP | UCM_EVENT_VM_UNMAPPED},
    {"mremap", UCM_EVENT_MREMAP | both},
    {"madvise", UCM_EVENT_MADVISE | UCM_EVENT_VM_UNMAPPED},
    {"brk", UCM_EVENT_BRK | both},
    {"sbrk", UCM_EVENT_BRK | both},
    {"shmat", UCM_EVENT_SHMAT | both},
    {"shmdt", UCM_EVENT_SHMDT | UCM_EVENT_VM_UNMAPPED},
    {"syscall", 0},
};

constexpr int noticeable = UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP |
                           UCM_EVENT_MADVISE | UCM_EVENT_BRK | UCM_EVENT_SHMAT | UCM_EVENT_SHMDT |
                           both;

#if defined(__x86_64__)
constexpr bool knows_processor = true;
#else
constexpr bool knows_processor = false;
#endif

// One function of the C library, and the jump that was put into it, which is written under the
// mutex.
struct state {
    std::uint8_t* code;
    const std::uint8_t* place;
    const void* target;
};

constinit state states[function_count]{};
constinit int wanted = 0;  // kinds that install was called for
constinit pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

template<class T>
T load(const T& from) noexcept {
    return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

template<class T>
void store(T& into, T value) noexcept {
    __atomic_store_n(&into, value, __ATOMIC_RELEASE);
}

constexpr std::size_t index(function which) noexcept {
    return static_cast<std::size_t>(which);
}

bool is_in_place(std::size_t which) noexcept {
    const std::uint8_t* place = load(states[which].place);
    return place != nullptr && is_patched(place, load(states[which].target));
}

// Whether calls of the function are noticed.
bool is_covered(function which) noexcept {
    if (is_in_place(index(which))) return true;
    std::uint8_t* code = load(states[index(which)].code);
    return which == function::sbrk && code != nullptr && find_entry(code).already_there == nullptr;
}

// Finds the C library's own functions, whoever else defines some of those names. Any thread: all
// find the same.
void look_up() noexcept {
    if (load(states[0].code) != nullptr) return;
    void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    for (std::size_t i = 0; i < function_count; ++i) {
        store(states[i].code, static_cast<std::uint8_t*>(dlsym(library, functions[i].name)));
    }
}

// Threads may be in the replacements at any time, so they must never be unloaded.
void stay_loaded() noexcept {
    if (ucm_global_opts.module_unload_prevent_mode == UCM_UNLOAD_PREVENT_MODE_NONE) return;
    Dl_info self;
    if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &self) == 0) return;
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// Finds the places for everything that is to be replaced and prepares the way from there, before
// anything is replaced. Uses no allocator.
class preparation {
public:
    void add(function which) noexcept {
        std::uint8_t* const code = states[index(which)].code;
        if (code == nullptr) return;
        entry found = which == function::syscall ? find_syscall_entry(code) : find_entry(code);
        if (which == function::sbrk && found.already_there == nullptr) return;
        found_[index(which)] = found;
    }

    bool finish() noexcept {
        const std::uint8_t* any = nullptr;
        for (const entry& one : found_) {
            if (one.place != nullptr) any = one.place;
        }
        if (any == nullptr || !ways_.open(any)) return false;
        for (std::size_t i = 0; i < function_count; ++i) {
            if (found_[i].place != nullptr) connect(static_cast<function>(i), found_[i]);
        }
        return ways_.close();
    }

    void apply(function which) noexcept {
        const entry& where = found_[index(which)];
        const void* target = targets_[index(which)];
        if (where.place == nullptr) return;
        if (where.already_there != nullptr) chain(which, others_[index(which)]);
        if (!patch(where.place, target)) return;
        store(states[index(which)].target, target);
        store(states[index(which)].place, static_cast<const std::uint8_t*>(where.place));
    }

private:
    void connect(function which, const entry& where) noexcept {
        targets_[index(which)] = ways_.add_jump(where.stack, replacement_of(which));
        if (which == function::syscall) set_rest_of_syscall(where.place + jump_size);
        if (where.already_there != nullptr) {
            others_[index(which)] = ways_.add_jump(-where.stack, where.already_there);
        }
    }

    entry found_[function_count];
    const void* targets_[function_count]{};
    const void* others_[function_count]{};
    island ways_;
};

void replace(int events) noexcept {
    preparation all;
    bool any = false;
    for (std::size_t i = 0; i < function_count; ++i) {
        const auto which = static_cast<function>(i);
        const bool needed = (functions[i].events & events) != 0 || which == function::syscall;
        if (!needed || is_covered(which)) continue;
        all.add(which);
        any = true;
    }
    if (!any || !all.finish()) return;
    // syscall comes first: then no call of another library's replacement is missed in between.
    for (std::size_t i = function_count; i-- > 0;) {
        all.apply(static_cast<function>(i));
    }
}

}  // namespace

int installed() noexcept {
    int events = noticeable;
    for (std::size_t i = 0; i < function_count; ++i) {
        if ((functions[i].events & events) == 0) continue;
        if (!is_covered(static_cast<function>(i))) events &= ~functions[i].events;
    }
    return events;
}

int install(int events) noexcept {
    if (!knows_processor) return 0;
    events &= noticeable;
    if ((events & ~installed()) != 0) {
        // They wait for the loader, in whose hands may be a library that installs as it begins.
        look_up();
        stay_loaded();
    }
    pthread_mutex_lock(&installing);
    if ((events & ~installed()) != 0) {
        store(wanted, wanted | events);
        replace(wanted);
    }
    events &= installed();
    pthread_mutex_unlock(&installing);
    return events;
}

void repair() noexcept {
    // A library that replaces functions again and again must not be answered forever.
    constexpr int most_repairs = 16;
    static constinit int repairs = 0;
    if ((load(wanted) & ~installed()) == 0 || load(repairs) == most_repairs) return;
    if (pthread_mutex_trylock(&installing) != 0) return;
    store(repairs, repairs + 1);
    replace(wanted);
    pthread_mutex_unlock(&installing);
}

void forget_other_threads() noexcept {
    pthread_mutex_init(&installing, nullptr);
}

}  // namespace ucm::hook
