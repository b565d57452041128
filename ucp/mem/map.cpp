#include "ucp/mem/map.hpp"

#include "ucp/log/log.hpp"
#include "ucs/memory/device_memory.hpp"

namespace ucp::mem {
namespace {

ucs_status_t refuse(const char* reason) {
    ucs::log::error(core_log, "memory is not mapped: {}", reason);
    return UCS_ERR_INVALID_PARAM;
}

ucs::result<memory*> allocate_on_device(memory_table& table, const map_params& params) {
    if (params.fixed) return refuse("UCP_MEM_MAP_FIXED is for memory of the host");
    if (params.length == 0) return refuse("no memory of a device has 0 bytes");
    auto made = ucs::cuda::allocation::make(params.length, params.type);
    if (!made) return made.status();
    ucs::memory::expect_device_memory();
    return table.add(
        std::make_unique<memory>(std::move(*made), params.length, params.allowed, params.type));
}

ucs::result<memory*> allocate(memory_table& table, const map_params& params) {
    if (params.fixed && params.address == nullptr) {
        return refuse("UCP_MEM_MAP_FIXED needs an address");
    }
    if (params.type != UCS_MEMORY_TYPE_HOST) return allocate_on_device(table, params);
    memory::block_pointer block;
    if (params.length > 0) {
        auto made = uct::sm::shared_block::allocate(params.length, params.address, params.fixed);
        if (!made) return made.status();
        block = std::move(*made);
    }
    void* base = block != nullptr ? block->base() : params.address;
    return table.add(
        std::make_unique<memory>(base, params.length, params.allowed, std::move(block)));
}

ucs::result<memory*> import(memory_table& table, const map_params& params) {
    if (params.allocate) return refuse("memory cannot be allocated and imported at the same time");
    auto known = parse_key(std::span(params.exported, packed_length(params.exported)));
    if (!known || !known->exported) return refuse("the memory to import was not exported");
    known->exported = false;
    known->devices.clear();
    auto window = table.import(*known);
    if (window.base == nullptr) {
        ucs::log::error(core_log, "exported memory cannot be mapped: {}", window.reason);
        return UCS_ERR_UNREACHABLE;
    }
    return table.add(std::make_unique<memory>(window.base, static_cast<std::size_t>(known->length),
                                              known->allowed, std::move(window.keeper)));
}

}  // namespace

ucs::result<memory*> map(memory_table& table, const map_params& params) {
    if (params.exported != nullptr) return import(table, params);
    if (params.allocate) return allocate(table, params);
    if (params.fixed) return refuse("UCP_MEM_MAP_FIXED needs UCP_MEM_MAP_ALLOCATE");
    if (params.address == nullptr && params.length > 0) {
        return refuse("no address, and not UCP_MEM_MAP_ALLOCATE either");
    }
    const auto begin = reinterpret_cast<std::uint64_t>(params.address);
    if (begin + params.length < begin) return refuse("the memory is longer than the address space");
    return table.add(std::make_unique<memory>(params.address, params.length, params.allowed,
                                              nullptr, ucs::memory::type_of(params.address)));
}

ucs::result<std::unique_ptr<rkey>> unpack(memory_table& table, const std::byte* packed) {
    const auto known = parse_key(std::span(packed, packed_length(packed)));
    if (!known || known->exported) {
        ucs::log::error(core_log, "a remote key is malformed, or of another version");
        return UCS_ERR_INVALID_PARAM;
    }
    auto window = table.open_window(*known);
    if (window.base == nullptr) {
        ucs::log::debug(core_log, "{} bytes of a peer's memory at {:#x} are not mapped here: {}",
                        known->length, known->base, window.reason);
    }
    auto made = std::make_unique<rkey>(*known, std::move(window));
    if (made->is_mapped() || table.devices() == nullptr) return made;
    const bool writable = (known->allowed & may_write) != 0;
    for (const device_key& each : known->devices) {
        auto attached = table.devices()->attach(
            each.device, each.bytes,
            writable ? uct::memory_access::change : uct::memory_access::read);
        if (attached != nullptr) made->add(each.device, std::move(attached));
    }
    return made;
}

}  // namespace ucp::mem
