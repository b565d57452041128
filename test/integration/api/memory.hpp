// Registered memory, packed keys and unpacked keys, which are released automatically.
#pragma once

#include <catch2/catch.hpp>

#include "test/integration/api/world.hpp"

namespace api {

class registered {
public:
    // Registers memory of the test.
    registered(ucp_context_h context, void* base, std::size_t length, unsigned prot = 0)
        : context_(context) {
        ucp_mem_map_params_t options{};
        options.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
        if (prot != 0) options.field_mask |= UCP_MEM_MAP_PARAM_FIELD_PROT;
        options.address = base;
        options.length = length;
        options.prot = prot;
        REQUIRE(ucp_mem_map(context, &options, &memh_) == UCS_OK);
    }
    // Registers memory that the library allocates.
    registered(ucp_context_h context, std::size_t length) : context_(context) {
        ucp_mem_map_params_t options{};
        options.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
        options.length = length;
        options.flags = UCP_MEM_MAP_ALLOCATE;
        REQUIRE(ucp_mem_map(context, &options, &memh_) == UCS_OK);
    }
    // Imports memory of another context or process.
    registered(ucp_context_h context, const void* exported_memh_buffer) : context_(context) {
        ucp_mem_map_params_t options{};
        options.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER;
        options.exported_memh_buffer = exported_memh_buffer;
        REQUIRE(ucp_mem_map(context, &options, &memh_) == UCS_OK);
    }
    ~registered() { ucp_mem_unmap(context_, memh_); }
    registered(const registered&) = delete;
    registered& operator=(const registered&) = delete;

    operator ucp_mem_h() const { return memh_; }
    [[nodiscard]] ucp_mem_attr_t query() const {
        ucp_mem_attr_t attr{};
        attr.field_mask =
            UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH | UCP_MEM_ATTR_FIELD_MEM_TYPE;
        REQUIRE(ucp_mem_query(memh_, &attr) == UCS_OK);
        return attr;
    }
    [[nodiscard]] std::uint64_t address() const {
        return reinterpret_cast<std::uint64_t>(query().address);
    }

private:
    ucp_context_h context_;
    ucp_mem_h memh_ = nullptr;
};

class packed_rkey {
public:
    packed_rkey(ucp_context_h context, ucp_mem_h memh) {
        REQUIRE(ucp_rkey_pack(context, memh, &buffer_, &size_) == UCS_OK);
    }
    ~packed_rkey() { ucp_rkey_buffer_release(buffer_); }
    packed_rkey(const packed_rkey&) = delete;
    packed_rkey& operator=(const packed_rkey&) = delete;

    [[nodiscard]] const void* data() const { return buffer_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::vector<std::byte> bytes() const {
        const auto* first = static_cast<const std::byte*>(buffer_);
        return {first, first + size_};
    }

private:
    void* buffer_ = nullptr;
    std::size_t size_ = 0;
};

class unpacked_rkey {
public:
    unpacked_rkey(ucp_ep_h ep, const packed_rkey& packed) : unpacked_rkey(ep, packed.data()) {}
    unpacked_rkey(ucp_ep_h ep, const void* packed) {
        REQUIRE(ucp_ep_rkey_unpack(ep, packed, &rkey_) == UCS_OK);
    }
    ~unpacked_rkey() { ucp_rkey_destroy(rkey_); }
    unpacked_rkey(const unpacked_rkey&) = delete;
    unpacked_rkey& operator=(const unpacked_rkey&) = delete;
    operator ucp_rkey_h() const { return rkey_; }

private:
    ucp_rkey_h rkey_ = nullptr;
};

}  // namespace api
