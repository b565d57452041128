#include "tools/perf/core/memory_limit.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace tools::perf {

std::size_t memory_of_buffers(std::size_t count, std::size_t size, std::uint32_t threads) {
    const std::uint64_t most = ucs::sys::usable_memory() / 4;
    std::size_t bytes = 0, all = 0;
    if (!__builtin_mul_overflow(count, size, &bytes) &&
        !__builtin_mul_overflow(bytes, std::size_t{threads}, &all) && all <= most)
        return bytes;
    throw failure(
        fmt::format("{} buffers of {} bytes in each of {} threads are more than a quarter of the "
                    "memory that this process may use ({} MB)",
                    count, size, threads, most * 4 >> 20));
}

}  // namespace tools::perf
