#include "test/cuda/driver/memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/device_memory.hpp"
#include "test/cuda/driver/handle.hpp"
#include "test/cuda/driver/open_memory.hpp"
#include "test/cuda/driver/random.hpp"

namespace standin {
namespace {

std::map<std::uint64_t, allocation_ref>& table() {
    static auto& only = *new std::map<std::uint64_t, allocation_ref>;
    return only;
}

}  // namespace

char* allocation::bytes_at(std::uint64_t address) const noexcept {
    if (memory == nullptr) return reinterpret_cast<char*>(address);
    return memory->bytes() + offset + (address - base);
}

allocation_ref make_allocation(memory_kind kind, std::uint64_t base, std::size_t length,
                               const context_ref& owner, device& on) {
    auto made = std::make_shared<allocation>();
    made->kind = kind;
    made->base = base;
    made->length = length;
    made->buffer_id = unique_number();
    made->owner = owner;
    made->on = &on;
    return made;
}

allocation_ref find_allocation(std::uint64_t address) {
    const auto next = table().upper_bound(address);
    if (next == table().begin()) return nullptr;
    const allocation_ref& found = std::prev(next)->second;
    return found->contains(address) ? found : nullptr;
}

allocation_ref find_overlap(std::uint64_t base, std::size_t length) {
    const auto next = table().lower_bound(base);
    if (next != table().end() && next->first - base < length) return next->second;
    return find_allocation(base);
}

void add_allocation(const allocation_ref& added) {
    table()[added->base] = added;
    open_for_running_kernels(*added);
}

void forget_allocation(const allocation& forgotten) {
    table().erase(forgotten.base);
}

void remove_allocation(allocation& removed) {
    removed.is_freed = true;
    forget_allocation(removed);
}

void map_block(allocation& shown, std::shared_ptr<block> memory, bool is_accessible) {
    const std::size_t length = (memory->length() + device_page - 1) / device_page * device_page;
    const std::uint64_t base = address_space::take(length);
    address_space::map(base, memory->length(), memory->file(), 0, is_accessible);
    shown.base = base;
    shown.mapped_base = base;
    shown.mapped_length = length;
    shown.memory = std::move(memory);
}

void unmap_addresses(std::uint64_t base, std::size_t length) {
    forget_open_mapping(base);
    address_space::unmap(base, length);
}

void unmap_block(const allocation& shown) {
    unmap_addresses(shown.mapped_base, shown.mapped_length);
    address_space::give_back(shown.mapped_base, shown.mapped_length);
}

void scribble(char* bytes, std::size_t length) noexcept {
    constexpr std::size_t page = 4096;
    constexpr std::size_t whole = 16 * page;
    const auto pattern = static_cast<int>(0xa0U | (mix(current_seed()) & 0xfU));
    if (length <= whole) {
        std::memset(bytes, pattern, length);
        return;
    }
    std::memset(bytes, pattern, page);
    for (std::size_t offset = page; offset + page < length; offset += page)
        std::memset(bytes + offset, pattern, 64);
    std::memset(bytes + length - page, pattern, page);
}

void for_each_allocation(const std::function<void(const allocation_ref&)>& visitor) {
    for (const auto& [base, each] : table())
        visitor(each);
}

std::vector<host_range> drop_memory(const context& dying) {
    std::vector<allocation_ref> dropped;
    for (const auto& [base, each] : table())
        if (each->owner.get() == &dying) dropped.push_back(each);
    std::vector<host_range> unmapped;
    for (const allocation_ref& each : dropped) {
        remove_allocation(*each);
        if (each->kind == memory_kind::pinned)
            unmapped.push_back({reinterpret_cast<void*>(each->base), each->mapped_length});
        if (!each->is_host()) release_device_memory(*each);
    }
    return unmapped;
}

}  // namespace standin
