#include "tools/ucg_perf/buffers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools::ucg_perf {

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

}  // namespace tools::ucg_perf
