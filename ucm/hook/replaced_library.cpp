#include "ucm/hook/replaced_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include "ucm/api/ucm.h"
#include "ucm/hook/patch.hpp"
#include "ucm/hook/trampoline.hpp"

namespace ucm::hook {
namespace {

#if defined(__x86_64__)
constexpr bool is_known_processor = true;
#else
constexpr bool is_known_processor = false;
#endif

template<class T>
T load(const T& from) noexcept {
    return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

template<class T>
void store(T& into, T value) noexcept {
    __atomic_store_n(&into, value, __ATOMIC_RELEASE);
}

bool is_in_place(const replaced_function& function) noexcept {
    const std::uint8_t* address = load(function.address);
    return address != nullptr && is_patched(address, load(function.target));
}

// Returns true if calls of the function are detected, or if there can be none.
bool is_covered(const replaced_function& function) noexcept {
    if (is_in_place(function)) return true;
    const std::uint8_t* const code = load(function.code);
    if (code == nullptr) return function.may_be_absent;
    return function.only_if_chained && !begins_with_jump(code);
}

// Returns the size of the code of a function, or 0 if it is unknown.
std::size_t code_size(const void* code) noexcept {
    Dl_info info;
    void* symbol = nullptr;
    if (dladdr1(code, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) return 0;
    return info.dli_saddr == code ? static_cast<const ElfW(Sym)*>(symbol)->st_size : 0;
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
    void add(replaced_function& function) noexcept {
        std::uint8_t* const code = function.code;
        if (code == nullptr) return;
        const entry found = function.find(code, function.size);
        if (found.address == nullptr) return;
        steps_[count_++] = {&function, found, nullptr, nullptr};
    }

    bool finish() noexcept {
        if (count_ == 0 || !trampolines_.open(steps_[0].found.address)) return false;
        for (std::size_t i = 0; i < count_; ++i)
            connect(steps_[i]);
        return trampolines_.close();
    }

    // In the reverse order of add.
    void apply() noexcept {
        while (count_ > 0)
            apply(steps_[--count_]);
    }

private:
    struct step {
        replaced_function* function;
        entry found;
        const void* target;  // null: cannot be replaced
        const void* gate;    // null: not needed
    };

    void connect(step& one) noexcept {
        const replaced_function& function = *one.function;
        if (function.calls_original || one.found.existing_target != nullptr) {
            one.gate = trampolines_.add_gate(one.found);
            if (one.gate == nullptr) return;
        }
        one.target = trampolines_.add_jump(one.found.undo, function.replacement());
        if (function.on_found != nullptr) function.on_found(one.found);
    }

    static void apply(const step& one) noexcept {
        replaced_function& function = *one.function;
        if (one.target == nullptr) return;
        const bool is_first = function.original == nullptr && function.calls_original;
        if (one.gate != nullptr) store(is_first ? function.original : function.chained, one.gate);
        if (!patch(one.found.address, one.target)) return;
        store(function.target, one.target);
        store(function.address, static_cast<const std::uint8_t*>(one.found.address));
    }

    step steps_[replaced_library::most_functions]{};
    std::size_t count_ = 0;
    trampoline_page trampolines_;
};

}  // namespace

bool replaced_library::is_loaded() const noexcept {
    return load(loaded_) != 0;
}

// Finds the library's own functions, even if other libraries define these names. Any thread,
// because all threads find the same addresses. The library stays in the process from then on. A
// second name of the same code counts as absent.
void replaced_library::look_up() noexcept {
    if (is_loaded()) return;
    void* const library = dlopen(file_, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    for (std::size_t i = 0; i < count_; ++i) {
        void* const code = dlsym(library, first_[i].name);
        bool is_known = false;
        for (std::size_t earlier = 0; earlier < i; ++earlier)
            is_known = is_known || load(first_[earlier].code) == code;
        if (code == nullptr || is_known) continue;
        store(first_[i].size, code_size(code));
        store(first_[i].code, static_cast<std::uint8_t*>(code));
    }
    store(loaded_, 1);
}

void replaced_library::replace(int events) noexcept {
    preparation all;
    for (std::size_t i = 0; i < count_; ++i) {
        replaced_function& function = first_[i];
        const bool needed = (function.events & events) != 0 || function.events == 0;
        if (function.replacement == nullptr || !needed || is_covered(function)) continue;
        all.add(function);
    }
    if (all.finish()) all.apply();
}

int replaced_library::installed() const noexcept {
    if (!is_loaded()) return 0;
    int events = detectable_;
    for (std::size_t i = 0; i < count_; ++i) {
        const replaced_function& function = first_[i];
        if ((function.events & events) == 0) continue;
        if (!is_covered(function)) events &= ~function.events;
    }
    return events;
}

int replaced_library::install(int events) noexcept {
    if (!is_known_processor) return 0;
    events &= detectable_;
    if ((events & ~installed()) != 0) {
        // These functions wait for the dynamic linker's lock. Another library's initialiser may
        // hold that lock and call install, so they run before the mutex is taken.
        look_up();
        if (is_loaded()) stay_loaded();
    }
    pthread_mutex_lock(&installing_);
    if (is_loaded() && (events & ~installed()) != 0) {
        store(wanted_, wanted_ | events);
        replace(wanted_);
    }
    events &= installed();
    pthread_mutex_unlock(&installing_);
    return events;
}

void replaced_library::repair() noexcept {
    // Limits the repairs against a library that replaces functions again and again.
    constexpr int most_repairs = 16;
    if ((load(wanted_) & ~installed()) == 0 || load(repairs_) == most_repairs) return;
    if (pthread_mutex_trylock(&installing_) != 0) return;
    store(repairs_, repairs_ + 1);
    replace(wanted_);
    pthread_mutex_unlock(&installing_);
}

void replaced_library::forget_other_threads() noexcept {
    pthread_mutex_init(&installing_, nullptr);
}

}  // namespace ucm::hook
