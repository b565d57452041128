#include "ucs/memory/copy_any.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "ucs/cuda/context.hpp"
#include "ucs/cuda/handle.hpp"
#include "ucs/cuda/scoped_context.hpp"
#include "ucs/memory/device_memory.hpp"
#include "ucs/type/allocated.hpp"

namespace ucs::memory {
namespace {

using namespace cuda;

// A stream of each context for copies that wait. Several threads may use one at the same time; each
// then waits for the copies of all.
class copy_streams {
public:
    // Returns the stream of a context, which is current. Failures are logged.
    result<CUstream> of(const driver_functions& driver, CUcontext current) {
        const context_identity wanted = context_identity::of(driver, current);
        const std::lock_guard guard(lock_);
        // The streams of a destroyed context are gone with it.
        const auto is_gone = [&](const entry& each) {
            return each.context.handle == current && each.context != wanted;
        };
        for (entry& each : all_)
            if (is_gone(each)) each.copies.abandon();
        std::erase_if(all_, is_gone);
        const auto known = std::ranges::find(all_, wanted, &entry::context);
        if (known != all_.end()) return known->copies.get();
        all_.reserve(all_.size() + 1);
        auto made = make_stream(driver);
        if (!made) return made.status();
        all_.push_back({wanted, std::move(*made)});
        return all_.back().copies.get();
    }

    void release(const driver_functions& driver) noexcept {
        const std::lock_guard guard(lock_);
        for (entry& each : all_) {
            const scoped_context current(driver, each.context.handle);
            if (current.status() != CUDA_SUCCESS) each.copies.abandon();
            each.copies = {};
        }
        all_.clear();
    }

private:
    struct entry {
        context_identity context;
        stream copies;
    };
    std::mutex lock_;
    std::vector<entry> all_;
};

// Primary contexts of devices, retained at the first use.
class primary_contexts {
public:
    result<CUcontext> of(const driver_functions& driver, int ordinal) {
        const std::lock_guard guard(lock_);
        const auto known = std::ranges::find(all_, ordinal, &entry::ordinal);
        if (known != all_.end()) return known->context.handle();
        auto made = primary_context::retain(driver, ordinal);
        if (!made) return made.status();
        all_.push_back({ordinal, std::move(*made)});
        return all_.back().context.handle();
    }

    void release() noexcept {
        const std::lock_guard guard(lock_);
        all_.clear();
    }

private:
    struct entry {
        int ordinal;
        primary_context context;
    };
    std::mutex lock_;
    std::vector<entry> all_;
};

struct copy_resources {
    copy_streams streams;
    primary_contexts contexts;
};

// Not destroyed: threads may copy while the process ends.
copy_resources& resources() {
    static copy_resources& only = *new copy_resources;
    return only;
}

result<CUcontext> context_for(const driver_functions& driver, const device_memory& memory) {
    if (memory.context != nullptr) return memory.context;
    return resources().contexts.of(driver, memory.device);
}

ucs_status_t copy(const driver_functions& driver, const device_memory& memory, void* to,
                  const void* from, std::size_t length) {
    const auto context = context_for(driver, memory);
    if (!context) return context.status();
    const scoped_context current(driver, *context);
    const ucs_status_t status = check(current.status(), "cuCtxPushCurrent_v2");
    if (status != UCS_OK) return status;
    const auto stream = resources().streams.of(driver, *context);
    if (!stream) return stream.status();
    const CUresult started = driver.cuMemcpyAsync(
        reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from), length, *stream);
    // Nothing may use the memory after an error either.
    const CUresult ended = driver.cuStreamSynchronize(*stream);
    const CUresult outcome = started != CUDA_SUCCESS ? started : ended;
    if (outcome == CUDA_SUCCESS) [[likely]]
        return UCS_OK;
    return check(outcome, started != CUDA_SUCCESS ? "cuMemcpyAsync" : "cuStreamSynchronize",
                 fmt::format("to copy {} bytes", length));
}

ucs_status_t copy_on_device(void* to, const void* from, std::size_t length) noexcept {
    const driver_functions* const driver = loaded_driver();
    auto memory = find_device_memory(from);
    if (!memory) memory = find_device_memory(to);
    if (driver == nullptr || !memory) {
        log::error(cuda_log, "{} bytes cannot be copied: the memory is not known to CUDA any more",
                   length);
        return UCS_ERR_INVALID_ADDR;
    }
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    if (!allocated([&] { status = copy(*driver, *memory, to, from, length); }))
        log::error(cuda_log, "out of memory: {} bytes of a device are not copied", length);
    return status;
}

}  // namespace

ucs_status_t copy_any(void* to, const void* from, std::size_t length) noexcept {
    if (length == 0) return UCS_OK;
    if (!is_host(to) || !is_host(from)) [[unlikely]]
        return copy_on_device(to, from, length);
    std::memcpy(to, from, length);
    return UCS_OK;
}

void detail::release_copy_resources() noexcept {
    const driver_functions* const driver = loaded_driver();
    if (driver == nullptr) return;
    resources().streams.release(*driver);
    resources().contexts.release();
}

}  // namespace ucs::memory
