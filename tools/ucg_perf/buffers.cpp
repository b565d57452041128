#include "tools/ucg_perf/buffers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools::ucg_perf {

ucg::reference::layout make_layout(const wanted_layout& wanted, std::uint32_t rank,
                                   std::uint32_t ranks) {
    const ucg::schedule::traits kind = traits_of(wanted.collective);
    // The sum over all ranks equals that of even blocks, and two ranks have blocks of equal size
    // for each other.
    const auto uneven = [&](std::uint32_t from, std::uint32_t to) {
        const std::uint32_t owner = kind.gives_blocks && kind.takes_blocks ? (from + to) % ranks
                                    : kind.gives_blocks                    ? to
                                                                           : from;
        const std::uint32_t half = ranks / 2;
        const std::uint64_t quarter = wanted.count / 4;
        if (owner < half) return wanted.count + quarter;
        return owner >= ranks - half ? wanted.count - quarter : wanted.count;
    };
    return ucg::reference::make_layout(
        {static_cast<ucg::schedule::collective>(wanted.collective), ranks, wanted.count,
         wanted.root, wanted.in_place, uneven, 0},
        rank);
}

std::uint64_t total_elements(const wanted_layout& wanted, std::uint32_t ranks) noexcept {
    if (wanted.collective == UCG_COLL_BARRIER) return 0;
    return traits_of(wanted.collective).has_blocks() ? wanted.count * ranks : wanted.count;
}

double bus_factor(ucg_coll_t collective, std::uint32_t ranks) noexcept {
    if (!traits_of(collective).has_blocks() && collective != UCG_COLL_ALLREDUCE) return 1;
    const double others = static_cast<double>(ranks - 1) / ranks;
    return collective == UCG_COLL_ALLREDUCE ? 2 * others : others;
}

namespace {

// Fills the memory with copies of one element. Each round doubles the part that is filled, so few
// copies are short.
void fill(char* to, std::uint64_t count, const void* one, std::size_t element) noexcept {
    if (count == 0) return;
    std::memcpy(to, one, element);
    constexpr std::uint64_t chunk = 4096;  // bytes; later copies read from the cache
    const std::uint64_t all = count * element;
    for (std::uint64_t done = element; done < all;) {
        const std::uint64_t now = std::min({done, all - done, chunk});
        std::memcpy(to + done, to, now);
        done += now;
    }
}

}  // namespace

void check_memory(double bytes) {
    const double installed = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                             static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (bytes <= installed) return;
    throw failure(fmt::format(
        "{:.3g} bytes of memory are more than the {:.3g} of this machine; -s and -b need less",
        bytes, installed));
}

page_memory::page_memory(std::uint64_t bytes) {
    if (bytes == 0) return;
    const auto size = static_cast<std::size_t>(bytes);
    void* const begin =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) {
        throw failure(fmt::format("{} bytes of memory: {}; -s and -b need less", bytes,
                                  std::strerror(errno)));
    }
    bytes_ = std::unique_ptr<void, unmap>(begin, unmap{size});
    // Fill the memory with a pattern that no rank sends, so that data that never arrives does not
    // pass the comparison.
    constexpr int untouched = 0xa5;
    std::memset(begin, untouched, size);
}

void page_memory::unmap::operator()(void* begin) const noexcept {
    ::munmap(begin, size);
}

void write_uniform(const buffers& into, const ucg::reference::layout& rank_layout, ucg_type_t type,
                   std::uint64_t seed) noexcept {
    constexpr std::uint64_t values = 64;  // few enough for 8 bits
    std::array<unsigned char, 16> one{};
    ucg::reference::store(type, one.data(), {static_cast<double>(seed % values), 0});
    void* const begin = (rank_layout.input_in_target ? into.target : into.source).get();
    const std::size_t element = ucg_type_size(type);
    for (const ucg::reference::block& each : rank_layout.given)
        fill(static_cast<char*>(begin) + each.offset * element, each.count, one.data(), element);
}

}  // namespace tools::ucg_perf
