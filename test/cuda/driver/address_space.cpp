#include "test/cuda/driver/address_space.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>
#include <map>

#include "test/cuda/driver/call.hpp"

namespace standin::address_space {
namespace {

constexpr std::size_t range_length = std::size_t{256} << 30U;
// A hint, so that addresses of different processes coincide: caches that mix them up then fail.
constexpr std::uint64_t wanted_begin = 0x7e90'0000'0000;

void* map_raw(std::uint64_t address, std::size_t length, int protection, int flags, int file,
              std::size_t offset) {
    return reinterpret_cast<void*>(
        ::syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

constexpr int reserved_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::uint64_t reserve_range() {
    void* const found =
        map_raw(wanted_begin, range_length + device_page, PROT_NONE, reserved_flags, -1, 0);
    if (found == MAP_FAILED) fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
    const auto begin = reinterpret_cast<std::uint64_t>(found);
    return (begin + device_page - 1) / device_page * device_page;
}

std::uint64_t range_begin() {
    static const std::uint64_t begin = reserve_range();
    return begin;
}

struct state {
    std::map<std::uint64_t, std::size_t> holes{{range_begin(), range_length}};
};

state& places() {
    static state& only = *new state;
    return only;
}

using hole = std::map<std::uint64_t, std::size_t>::iterator;

std::uint64_t take_from(hole found, std::uint64_t address, std::size_t length) {
    const auto [begin, free] = *found;
    places().holes.erase(found);
    if (address > begin) places().holes.emplace(begin, address - begin);
    if (address + length < begin + free)
        places().holes.emplace(address + length, begin + free - address - length);
    return address;
}

}  // namespace

void reserve() {
    static_cast<void>(range_begin());
}

bool contains(std::uint64_t address) noexcept {
    return address - range_begin() < range_length;
}

std::uint64_t take(std::size_t length, std::size_t alignment, std::uint64_t wanted) {
    const std::size_t step = alignment == 0 ? device_page : alignment;
    for (auto each = places().holes.begin(); wanted != 0 && each != places().holes.end(); ++each)
        if (wanted >= each->first && wanted - each->first + length <= each->second)
            return take_from(each, wanted, length);
    for (auto each = places().holes.begin(); each != places().holes.end(); ++each) {
        const std::uint64_t address = (each->first + step - 1) / step * step;
        if (address - each->first + length <= each->second) return take_from(each, address, length);
    }
    fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
}

void give_back(std::uint64_t address, std::size_t length) {
    auto& holes = places().holes;
    auto next = holes.lower_bound(address);
    if (next != holes.end() && next->first == address + length) {
        length += next->second;
        next = holes.erase(next);
    }
    if (next != holes.begin()) {
        const auto previous = std::prev(next);
        if (previous->first + previous->second == address) {
            previous->second += length;
            return;
        }
    }
    holes.emplace(address, length);
}

void map(std::uint64_t address, std::size_t length, int file, std::size_t offset,
         bool is_accessible) {
    const int protection = is_accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (map_raw(address, length, protection, MAP_SHARED | MAP_FIXED, file, offset) == MAP_FAILED)
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the host cannot map more memory");
}

void unmap(std::uint64_t address, std::size_t length) {
    map_raw(address, length, PROT_NONE, reserved_flags | MAP_FIXED, -1, 0);
}

void set_accessible(std::uint64_t address, std::size_t length, bool is_accessible) {
    ::syscall(SYS_mprotect, address, length, is_accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

}  // namespace standin::address_space
