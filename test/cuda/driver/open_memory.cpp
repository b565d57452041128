#include "test/cuda/driver/open_memory.hpp"

#include <map>

#include "test/cuda/driver/address_space.hpp"

namespace standin {
namespace {

struct open_mapping {
    std::size_t length;
    unsigned kernels;  // that have opened it
};

struct state {
    std::set<open_memory*> running;
    std::map<std::uint64_t, open_mapping> mappings;  // by base
};

state& table() {
    static state& only = *new state;
    return only;
}

// Memory of the host and managed memory is always open.
bool can_kernel_access(const context& running, const allocation& memory) {
    switch (memory.kind) {
        case memory_kind::device:
            return memory.owner.get() == &running || running.peers.contains(memory.owner->id);
        case memory_kind::imported:
            return memory.owner.get() == &running;
        case memory_kind::pool:
            return memory.on == &running.on;
        case memory_kind::mapping:
            return memory.accessible_from.contains(running.on.ordinal);
        default:
            return false;
    }
}

void open_mapping_at(std::uint64_t base, std::size_t length) {
    open_mapping& opened =
        table().mappings.try_emplace(base, open_mapping{length, 0}).first->second;
    if (opened.kernels++ == 0) address_space::set_accessible(base, length, true);
}

void close_mapping_at(std::uint64_t base) {
    const auto found = table().mappings.find(base);
    if (--found->second.kernels > 0) return;
    address_space::set_accessible(base, found->second.length, false);
    table().mappings.erase(found);
}

}  // namespace

open_memory::open_memory(const context& running) : running_(running) {
    const held_lock lock(state_lock());
    table().running.insert(this);
    for_each_allocation([&](const allocation_ref& each) { add(*each); });
}

open_memory::~open_memory() {
    const held_lock lock(state_lock());
    table().running.erase(this);
    for (const std::uint64_t each : opened_)
        close_mapping_at(each);
}

void open_memory::add(const allocation& memory) {
    if (can_kernel_access(running_, memory) && opened_.insert(memory.mapped_base).second)
        open_mapping_at(memory.mapped_base, memory.mapped_length);
}

void open_for_running_kernels(const allocation& memory) {
    for (open_memory* const each : table().running)
        each->add(memory);
}

void forget_open_mapping(std::uint64_t base) {
    for (open_memory* const each : table().running)
        each->forget(base);
    table().mappings.erase(base);
}

}  // namespace standin
