#include "ucm/hook/install.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>

#include "ucm/api/ucm.h"
#include "ucm/hook/entry.hpp"
#include "ucm/hook/patch.hpp"
#include "ucm/hook/replacements.hpp"
#include "ucm/hook/syscall_entry.hpp"
#include "ucm/hook/trampoline.hpp"

namespace ucm::hook {
namespace {

// A function of the C library, and the kinds of events that are incomplete unless it is replaced.
struct replaced_function {
    const char* name;
    int events;
};

constexpr int both = UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED;

// In the order of `function`. The C library's sbrk calls brk, so it is replaced only if another
// library has replaced it. Therefore UCM_EVENT_SBRK, which reports the increment, is not detected.
// Replacements of other libraries call syscall, and so do programs; no kind of event depends on
// replacing it alone.
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

constexpr int detectable = UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP |
                           UCM_EVENT_MADVISE | UCM_EVENT_BRK | UCM_EVENT_SHMAT | UCM_EVENT_SHMDT |
                           both;

#if defined(__x86_64__)
constexpr bool is_known_processor = true;
#else
constexpr bool is_known_processor = false;
#endif

// A function of the C library, and the jump that was written into it. The jump is written under the
// mutex.
struct state {
    std::uint8_t* code;
    const std::uint8_t* address;
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

constexpr std::size_t index(function id) noexcept {
    return static_cast<std::size_t>(id);
}

bool is_in_place(std::size_t id) noexcept {
    const std::uint8_t* address = load(states[id].address);
    return address != nullptr && is_patched(address, load(states[id].target));
}

// Returns true if calls of the function are detected.
bool is_covered(function id) noexcept {
    if (is_in_place(index(id))) return true;
    std::uint8_t* code = load(states[index(id)].code);
    return id == function::sbrk && code != nullptr && find_entry(code).existing_target == nullptr;
}

// Finds the C library's own functions, even if other libraries define these names. Any thread,
// because all threads find the same addresses.
void look_up() noexcept {
    if (load(states[0].code) != nullptr) return;
    void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    for (std::size_t i = 0; i < function_count; ++i) {
        store(states[i].code, static_cast<std::uint8_t*>(dlsym(library, functions[i].name)));
    }
}

// A thread may be executing a replacement at any time, so this library must never be unloaded.
void stay_loaded() noexcept {
    if (ucm_global_opts.module_unload_prevent_mode == UCM_UNLOAD_PREVENT_MODE_NONE) return;
    Dl_info self;
    if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &self) == 0) return;
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// Finds the entries of all functions to replace and prepares their trampolines before any function
// is replaced. Uses no allocator.
class preparation {
public:
    void add(function id) noexcept {
        std::uint8_t* const code = states[index(id)].code;
        if (code == nullptr) return;
        entry found = id == function::syscall ? find_syscall_entry(code) : find_entry(code);
        if (id == function::sbrk && found.existing_target == nullptr) return;
        found_[index(id)] = found;
    }

    bool finish() noexcept {
        const std::uint8_t* any = nullptr;
        for (const entry& one : found_) {
            if (one.address != nullptr) any = one.address;
        }
        if (any == nullptr || !trampolines_.open(any)) return false;
        for (std::size_t i = 0; i < function_count; ++i) {
            if (found_[i].address != nullptr) connect(static_cast<function>(i), found_[i]);
        }
        return trampolines_.close();
    }

    void apply(function id) noexcept {
        const entry& entry_point = found_[index(id)];
        const void* target = targets_[index(id)];
        if (entry_point.address == nullptr) return;
        if (entry_point.existing_target != nullptr) chain(id, others_[index(id)]);
        if (!patch(entry_point.address, target)) return;
        store(states[index(id)].target, target);
        store(states[index(id)].address, static_cast<const std::uint8_t*>(entry_point.address));
    }

private:
    void connect(function id, const entry& entry_point) noexcept {
        targets_[index(id)] = trampolines_.add_jump(entry_point.stack, replacement_of(id));
        if (id == function::syscall) set_rest_of_syscall(entry_point.address + jump_size);
        if (entry_point.existing_target != nullptr) {
            others_[index(id)] =
                trampolines_.add_jump(-entry_point.stack, entry_point.existing_target);
        }
    }

    entry found_[function_count];
    const void* targets_[function_count]{};
    const void* others_[function_count]{};
    trampoline_page trampolines_;
};

void replace(int events) noexcept {
    preparation all;
    bool any = false;
    for (std::size_t i = 0; i < function_count; ++i) {
        const auto id = static_cast<function>(i);
        const bool needed = (functions[i].events & events) != 0 || id == function::syscall;
        if (!needed || is_covered(id)) continue;
        all.add(id);
        any = true;
    }
    if (!any || !all.finish()) return;
    // syscall is replaced first, so that no call of another library's replacement is missed in
    // between.
    for (std::size_t i = function_count; i-- > 0;) {
        all.apply(static_cast<function>(i));
    }
}

}  // namespace

int installed() noexcept {
    int events = detectable;
    for (std::size_t i = 0; i < function_count; ++i) {
        if ((functions[i].events & events) == 0) continue;
        if (!is_covered(static_cast<function>(i))) events &= ~functions[i].events;
    }
    return events;
}

int install(int events) noexcept {
    if (!is_known_processor) return 0;
    events &= detectable;
    if ((events & ~installed()) != 0) {
        // These functions wait for the dynamic linker's lock. Another library's initialiser may
        // hold that lock and call install, so they run before the mutex is taken.
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
    // Limits the repairs against a library that replaces functions again and again.
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
