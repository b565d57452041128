#include "test/cuda/driver/functions.hpp"

#include <array>
#include <cstring>
#include <string>

#include "test/cuda/driver/call.hpp"
#include "test/cuda/driver/settings.hpp"

namespace standin {
namespace {

struct entry {
    const char* name;
    void* address;
};

#define STANDIN_ENTRY(name, parameters) entry{#name, reinterpret_cast<void*>(&name)},
const std::array entries{STANDIN_FUNCTIONS(STANDIN_ENTRY)};
#undef STANDIN_ENTRY
static_assert(std::tuple_size_v<decltype(entries)> == static_cast<std::size_t>(function::count));

// Results of cuGetProcAddress, besides its status.
enum symbol_status { found = 0, not_found = 1, version_too_old = 2 };

constexpr std::uint64_t per_thread_default_stream = 2;

// A program asks for a name without its version.
function newest_of(const std::string& symbol, std::uint64_t flags) {
    if ((flags & per_thread_default_stream) != 0) {
        const function per_thread = find_function((symbol + "_ptsz").c_str());
        if (per_thread != function::count) return per_thread;
    }
    const function second = find_function((symbol + "_v2").c_str());
    return second != function::count ? second : find_function(symbol.c_str());
}

}  // namespace

const char* name_of(function named) noexcept {
    return entries[static_cast<std::size_t>(named)].name;
}

function find_function(const char* symbol) noexcept {
    for (std::size_t index = 0; index < entries.size(); ++index)
        if (std::strcmp(entries[index].name, symbol) == 0) return static_cast<function>(index);
    return function::count;
}

int first_version(function named) noexcept {
    switch (named) {
        case function::cuMemAllocAsync:
        case function::cuMemAllocAsync_ptsz:
        case function::cuMemFreeAsync:
        case function::cuMemFreeAsync_ptsz:
        case function::cuMemAllocFromPoolAsync:
        case function::cuMemAllocFromPoolAsync_ptsz:
        case function::cuMemPoolCreate:
        case function::cuMemPoolDestroy:
        case function::cuDeviceGetDefaultMemPool:
            return 11020;
        case function::cuMemGetHandleForAddressRange:
        case function::cuStreamWriteValue32_v2:
        case function::cuStreamWriteValue64_v2:
        case function::cuStreamWaitValue64_v2:
            return 11070;
        case function::cuGetProcAddress_v2:
        case function::cuCtxGetId:
        case function::cuLibraryLoadData:
        case function::cuLibraryUnload:
        case function::cuLibraryGetKernel:
            return 12000;
        default:
            return 0;
    }
}

CUresult cuGetProcAddress_v2(const char* symbol, void** address, int version, std::uint64_t flags,
                             int* status) {
    return call(function::cuGetProcAddress_v2, [&](held_lock&) {
        check_pointer(symbol);
        check_pointer(address);
        *address = nullptr;
        const function named = newest_of(symbol, flags);
        const bool is_known = named != function::count;
        const bool is_old_enough =
            is_known && first_version(named) <= std::min(version, options().version);
        if (status != nullptr)
            *status = !is_known ? not_found : !is_old_enough ? version_too_old : found;
        if (!is_old_enough) fail(CUDA_ERROR_NOT_FOUND, "this version has no such function");
        *address = entries[static_cast<std::size_t>(named)].address;
    });
}

}  // namespace standin
