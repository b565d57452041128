#include "test/cuda/driver/lifecycle.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/call.hpp"
#include "test/cuda/driver/device.hpp"
#include "test/cuda/driver/leaks.hpp"
#include "test/cuda/driver/settings.hpp"

namespace standin {
namespace {

enum class state { unstarted, started, forked, ended };
std::atomic<state> now{state::unstarted};

void on_fork_in_child() {
    if (now == state::started) now = state::forked;
}

// Libraries with host builds of kernels register them when they are loaded.
void load_kernels() {
    const std::string& file = options().kernels;
    if (file.empty()) return;
    if (::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
    std::fprintf(stderr, "standin: STANDIN_KERNELS=%s cannot be loaded: %s\n", file.c_str(),
                 ::dlerror());
    fail(CUDA_ERROR_UNKNOWN, "STANDIN_KERNELS cannot be loaded");
}

void start(held_lock& lock) {
    if (now == state::started) return;
    if (now != state::unstarted) check_started();
    if (devices().empty()) fail(CUDA_ERROR_NO_DEVICE, "no device is visible");
    address_space::reserve();
    static_cast<void>(::pthread_atfork(nullptr, nullptr, on_fork_in_child));
    now = state::started;
    // The loaded library calls register_kernel, which takes the lock.
    lock.unlock();
    load_kernels();
    lock.lock();
}

// The library is never unloaded (nodelete), so this runs when the process ends.
[[gnu::destructor]] void end_of_process() {
    if (now != state::started) return;
    std::size_t leaks = 0;
    {
        const held_lock lock(state_lock());
        now = state::ended;
        leaks = report_leaks();
    }
    if (leaks == 0 || !options().are_leaks_fatal) return;
    std::fflush(nullptr);
    ::_exit(97);
}

}  // namespace

void check_started() {
    switch (now.load()) {
        case state::started:
            return;
        case state::ended:
            fail(CUDA_ERROR_DEINITIALIZED, "the process is ending");
        case state::forked:
            fail(CUDA_ERROR_NOT_INITIALIZED, "CUDA does not survive a fork");
        case state::unstarted:
            fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
    }
}

bool is_forked() noexcept {
    return now == state::forked;
}

CUresult cuInit(unsigned flags) {
    return call(function::cuInit, [&](held_lock& lock) {
        if (now == state::forked) check_started();
        check_argument(flags == 0, "the flags of cuInit must be 0");
        start(lock);
    });
}

CUresult cuDriverGetVersion(int* version) {
    return call(function::cuDriverGetVersion, [&](held_lock&) {
        check_pointer(version);
        *version = options().version;
    });
}

}  // namespace standin
