#include "tools/perf/core/test_params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/common/failure.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace tools::perf {

std::size_t test_params::message_size() const noexcept {
    return std::accumulate(pieces.begin(), pieces.end(), std::size_t{0});
}

std::size_t test_params::extent() const noexcept {
    if (stride == 0 || pieces.empty()) return message_size();
    return stride * (pieces.size() - 1) + pieces.back();
}

std::uint64_t test_params::warmup_iterations() const noexcept {
    return std::min(warmup, iterations / 10 + (iterations % 10 != 0 ? 1 : 0));
}

namespace {

// A test has up to four sets of buffers: send, receive, headers, and memory for remote access.
// Together they may take half of the memory.
constexpr unsigned sets = 4, part_of_test = 2;

}  // namespace

std::size_t memory_of_buffers(std::size_t count, std::size_t size, std::uint32_t threads) {
    const std::uint64_t most = ucs::sys::usable_memory() / sets / part_of_test;
    std::size_t bytes = 0, all = 0;
    if (!__builtin_mul_overflow(count, size, &bytes) &&
        !__builtin_mul_overflow(bytes, std::size_t{threads}, &all) && all <= most)
        return bytes;
    throw failure(
        fmt::format("{} buffers of {} bytes in each of {} threads are more than an eighth of the "
                    "memory that this process may use ({} MB)",
                    count, size, threads, most * sets * part_of_test >> 20));
}

}  // namespace tools::perf
