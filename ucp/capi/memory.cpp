// ucp_mem_h and ucp_rkey_h: registered memory and its keys.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/mem/map.hpp"
#include "ucs/config/units.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

ucs_status_t read(const ucp_mem_map_params_t& from, mem::map_params& params) {
    const auto has = [&from](std::uint64_t bit) { return (from.field_mask & bit) != 0; };
    if (has(UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER)) {
        if (from.exported_memh_buffer == nullptr) {
            return refuse("ucp_mem_map", "params.exported_memh_buffer is NULL");
        }
        params.exported = static_cast<const std::byte*>(from.exported_memh_buffer);
    } else if (!has(UCP_MEM_MAP_PARAM_FIELD_LENGTH)) {
        return refuse("ucp_mem_map", "params.length is missing");
    }
    if (has(UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE)) {
        if (!is_usable_memory(from.memory_type))
            return refuse_memory("ucp_mem_map", from.memory_type);
        if (is_cuda_memory(from.memory_type)) params.type = from.memory_type;
    }
    if (has(UCP_MEM_MAP_PARAM_FIELD_ADDRESS)) params.address = from.address;
    if (has(UCP_MEM_MAP_PARAM_FIELD_LENGTH)) params.length = from.length;
    if (has(UCP_MEM_MAP_PARAM_FIELD_FLAGS)) {
        params.allocate = (from.flags & UCP_MEM_MAP_ALLOCATE) != 0;
        params.fixed = (from.flags & UCP_MEM_MAP_FIXED) != 0;
    }
    if (has(UCP_MEM_MAP_PARAM_FIELD_PROT)) {
        const bool read = (from.prot & UCP_MEM_MAP_PROT_REMOTE_READ) != 0;
        const bool write = (from.prot & UCP_MEM_MAP_PROT_REMOTE_WRITE) != 0;
        params.allowed =
            static_cast<std::uint8_t>((read ? mem::may_read : 0) | (write ? mem::may_write : 0));
    }
    return UCS_OK;
}

ucs_status_t map(context& owner, const ucp_mem_map_params_t& from, ucp_mem_h* memh_p) {
    mem::map_params params;
    if (const ucs_status_t status = read(from, params); status != UCS_OK) return status;
    const auto made = mem::map(owner.memories(), params);
    if (!made) return made.status();
    *memh_p = handle(**made);
    return UCS_OK;
}

ucs_status_t pack(const mem::memory& memory, bool exported, void** buffer_p, std::size_t* size_p) {
    mem::key key = memory.to_key();
    key.exported = exported;
    if (exported && key.block.empty()) {
        ucs::log::diag(core_log,
                       "ucp_memh_pack: only memory that the library allocated can be exported");
        return UCS_ERR_UNSUPPORTED;
    }
    const mem::packed_key packed = mem::pack(key);
    void* copy = std::malloc(packed.length);
    if (copy == nullptr) {
        ucs::log::error(core_log, "out of memory: no packed key");
        return UCS_ERR_NO_MEMORY;
    }
    std::memcpy(copy, packed.bytes.data(), packed.length);
    *buffer_p = copy;
    *size_p = packed.length;
    return UCS_OK;
}

// Advises the system that the pages of the range will be needed.
ucs_status_t will_need(std::byte* start, std::size_t length) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::uintptr_t begin = address / page * page;
    if (::madvise(reinterpret_cast<void*>(begin), address + length - begin, MADV_WILLNEED) != 0) {
        ucs::log::diag(core_log, "madvise(WILLNEED) failed: {}", std::strerror(errno));
    }
    return UCS_OK;
}

ucs_status_t advise(const mem::memory& memory, const ucp_mem_advise_params_t& params) {
    constexpr std::uint64_t all = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS |
                                  UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                                  UCP_MEM_ADVISE_PARAM_FIELD_ADVICE;
    if ((params.field_mask & all) != all) {
        return refuse("ucp_mem_advise", "address, length or advice is missing");
    }
    if (!memory.covers(params.address, params.length)) {
        return refuse("ucp_mem_advise", "the range is not part of the registered memory");
    }
    if (params.advice == UCP_MADV_NORMAL || params.length == 0) return UCS_OK;
    if (params.advice != UCP_MADV_WILLNEED) {
        return refuse("ucp_mem_advise", "there is no such advice");
    }
    return will_need(static_cast<std::byte*>(params.address), params.length);
}

void print(const char* mem_size, context& owner, FILE* stream) {
    const auto length = ucs::config::parse_bytes(mem_size);
    if (!length) {
        ucs::log::error(core_log, "ucp_mem_print_info: '{}' is no size such as 4K", mem_size);
        return;
    }
    const auto made = mem::map(owner.memories(), {.length = *length, .allocate = true});
    if (!made) {
        fmt::print(stream, "#\n# UCP memory: {} could not be allocated: {}\n#\n", mem_size,
                   ucs_status_string(made.status()));
        return;
    }
    mem::memory& memory = **made;
    const mem::packed_key packed = mem::pack(memory.to_key());
    fmt::print(stream,
               "#\n# UCP memory\n#\n"
               "#             length: {} bytes\n#            address: {}\n"
               "#             mapped: {}\n#         packed key: {} bytes\n#\n",
               memory.length(), fmt::ptr(memory.base()),
               memory.to_key().block.empty() ? "in this process only"
                                             : "by peers of this host, which load and store",
               packed.length);
    owner.memories().remove(memory);
}

}  // namespace

extern "C" {

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* params,
                         ucp_mem_h* memh_p) {
    if (context == nullptr || params == nullptr || memh_p == nullptr) {
        return refuse("ucp_mem_map", "context, params or memh_p is NULL");
    }
    return ucs::boundary(core_log, "ucp_mem_map",
                         [&] { return map(from(context), *params, memh_p); });
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memh) {
    if (context == nullptr || memh == nullptr) {
        return refuse("ucp_mem_unmap", "context or memh is NULL");
    }
    from(context).memories().remove(from(memh));
    return UCS_OK;
}

ucs_status_t ucp_mem_query(const ucp_mem_h memh, ucp_mem_attr_t* attr) {
    if (memh == nullptr || attr == nullptr) return refuse("ucp_mem_query", "memh or attr is NULL");
    const mem::memory& object = from(memh);
    const auto wants = [attr](std::uint64_t bit) { return (attr->field_mask & bit) != 0; };
    if (wants(UCP_MEM_ATTR_FIELD_ADDRESS)) attr->address = object.base();
    if (wants(UCP_MEM_ATTR_FIELD_LENGTH)) attr->length = object.length();
    if (wants(UCP_MEM_ATTR_FIELD_MEM_TYPE)) attr->mem_type = object.type();
    return UCS_OK;
}

void ucp_mem_print_info(const char* mem_size, ucp_context_h context, FILE* stream) {
    if (mem_size == nullptr || context == nullptr || stream == nullptr) return;
    ucs::boundary(core_log, "ucp_mem_print_info", [&] { print(mem_size, from(context), stream); });
}

ucs_status_t ucp_mem_advise(ucp_context_h context, ucp_mem_h memh,
                            ucp_mem_advise_params_t* params) {
    if (context == nullptr || memh == nullptr || params == nullptr) {
        return refuse("ucp_mem_advise", "context, memh or params is NULL");
    }
    return advise(from(memh), *params);
}

ucs_status_t ucp_memh_pack(ucp_mem_h memh, const ucp_memh_pack_params_t* params, void** buffer_p,
                           size_t* buffer_size_p) {
    if (memh == nullptr || params == nullptr || buffer_p == nullptr || buffer_size_p == nullptr) {
        return refuse("ucp_memh_pack", "memh, params, buffer_p or buffer_size_p is NULL");
    }
    const bool exported = (params->field_mask & UCP_MEMH_PACK_PARAM_FIELD_FLAGS) != 0 &&
                          (params->flags & UCP_MEMH_PACK_FLAG_EXPORT) != 0;
    return ucs::boundary(core_log, "ucp_memh_pack",
                         [&] { return pack(from(memh), exported, buffer_p, buffer_size_p); });
}

void ucp_memh_buffer_release(void* buffer, const ucp_memh_buffer_release_params_t*) {
    std::free(buffer);
}

ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memh, void** rkey_buffer_p,
                           size_t* size_p) {
    if (context == nullptr) return refuse("ucp_rkey_pack", "context is NULL");
    const ucp_memh_pack_params_t params{};
    return ucp_memh_pack(memh, &params, rkey_buffer_p, size_p);
}

void ucp_rkey_buffer_release(void* rkey_buffer) {
    std::free(rkey_buffer);
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h handle_of_ep, const void* rkey_buffer,
                                ucp_rkey_h* rkey_p) {
    if (handle_of_ep == nullptr || rkey_buffer == nullptr || rkey_p == nullptr) {
        return refuse("ucp_ep_rkey_unpack", "ep, rkey_buffer or rkey_p is NULL");
    }
    return ucs::boundary(core_log, "ucp_ep_rkey_unpack", [&] {
        auto made = mem::unpack(from(handle_of_ep).owner().owner().memories(),
                                static_cast<const std::byte*>(rkey_buffer));
        if (!made) return made.status();
        *rkey_p = handle(*made->release());
        return UCS_OK;
    });
}

ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void** addr_p) {
    if (rkey == nullptr || addr_p == nullptr) {
        return refuse("ucp_rkey_ptr", "rkey or addr_p is NULL");
    }
    const mem::rkey& object = from(rkey);
    if (!object.is_mapped()) return UCS_ERR_UNREACHABLE;
    if (!object.contains(raddr)) return UCS_ERR_INVALID_ADDR;
    *addr_p = object.pointer(raddr);
    return UCS_OK;
}

ucs_status_t ucp_rkey_compare(ucp_worker_h worker, ucp_rkey_h rkey1, ucp_rkey_h rkey2,
                              const ucp_rkey_compare_params_t* params, int* result) {
    if (worker == nullptr || rkey1 == nullptr || rkey2 == nullptr || params == nullptr ||
        result == nullptr) {
        return refuse("ucp_rkey_compare", "worker, a key, params or result is NULL");
    }
    *result = from(rkey1).compare(from(rkey2));
    return UCS_OK;
}

void ucp_rkey_destroy(ucp_rkey_h rkey) {
    if (rkey != nullptr) delete &from(rkey);
}

}  // extern "C"
