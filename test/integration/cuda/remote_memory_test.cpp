// Remote memory of every kind: put, get and atomic operations.
#include <catch2/catch.hpp>

#include "test/integration/api/remote.hpp"
#include "test/support/cuda_memory.hpp"

using namespace api;
using cuda_test::kind;

namespace {

world_options with_remote_memory() {
    world_options options;
    options.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    return options;
}

// Memory of the receiver, with a key of the sender.
struct exposed {
    exposed(const remote_world& in, std::byte* base, std::size_t length)
        : registration(in.owner, base, length),
          packed(in.owner, registration),
          key(in.ep, packed),
          address(reinterpret_cast<std::uint64_t>(base)) {}

    registered registration;
    packed_rkey packed;
    unpacked_rkey key;
    std::uint64_t address;
};

constexpr ucs_memory_type_t type_of(kind which) {
    if (which == kind::host || which == kind::pinned) return UCS_MEMORY_TYPE_HOST;
    return which == kind::managed ? UCS_MEMORY_TYPE_CUDA_MANAGED : UCS_MEMORY_TYPE_CUDA;
}

}  // namespace

TEST_CASE("put and get move between memory of every kind") {
    const cuda_test::current_device first;
    const remote_world in(with_remote_memory());
    for (const kind remote : cuda_test::all_kinds) {
        for (const kind local : cuda_test::all_kinds) {
            for (const std::size_t length : {1UL, 8UL, 100UL, 9000UL, 300'007UL}) {
                INFO("local " << cuda_test::name_of(local) << ", remote "
                              << cuda_test::name_of(remote) << ", length " << length);
                const auto bytes = pattern(length, 11);
                const cuda_test::memory there(remote, length + 5);
                const exposed target(in, there.data(), length + 5);
                CHECK(target.registration.query().mem_type == type_of(remote));
                const cuda_test::memory from(local, bytes);
                CHECK(in.finish(ucp_put_nbx(in.ep, from.data(), length, target.address, target.key,
                                            &none)) == UCS_OK);
                CHECK(in.finish(ucp_ep_flush_nbx(in.ep, &none)) == UCS_OK);
                CHECK(there.read(0, length) == bytes);
                CHECK(there.read(length, 5) == std::vector<std::byte>(5));
                const cuda_test::memory into(local, length + 5);
                CHECK(in.finish(ucp_get_nbx(in.ep, into.data(), length, target.address, target.key,
                                            &none)) == UCS_OK);
                CHECK(into.read(0, length) == bytes);
                CHECK(into.read(length, 5) == std::vector<std::byte>(5));
            }
        }
    }
}

TEST_CASE("atomic operations work on memory of every kind") {
    const cuda_test::current_device first;
    const remote_world in(with_remote_memory());
    for (const kind remote : cuda_test::all_kinds) {
        for (const kind local : cuda_test::all_kinds) {
            INFO("local " << cuda_test::name_of(local) << ", remote "
                          << cuda_test::name_of(remote));
            const std::uint64_t start = 40;
            std::vector<std::byte> word(8);
            std::memcpy(word.data(), &start, 8);
            const cuda_test::memory there(remote, word);
            const exposed target(in, there.data(), 8);
            const std::uint64_t two = 2;
            std::memcpy(word.data(), &two, 8);
            const cuda_test::memory operand(local, word);
            const cuda_test::memory reply(local, 8);
            params options = params().type(ucp_dt_make_contig(8));
            CHECK(in.finish(ucp_atomic_op_nbx(in.ep, UCP_ATOMIC_OP_ADD, operand.data(), 1,
                                              target.address, target.key, &options)) == UCS_OK);
            options.reply_buffer = reply.data();
            options.flag(UCP_OP_ATTR_FIELD_REPLY_BUFFER);
            CHECK(in.finish(ucp_atomic_op_nbx(in.ep, UCP_ATOMIC_OP_ADD, operand.data(), 1,
                                              target.address, target.key, &options)) == UCS_OK);
            std::uint64_t before = 0;
            std::memcpy(&before, reply.read().data(), 8);
            CHECK(before == 42);
            std::memcpy(&before, there.read().data(), 8);
            CHECK(before == 44);
        }
    }
}

TEST_CASE("memory of a device is allocated by ucp_mem_map") {
    const cuda_test::current_device first;
    const remote_world in(with_remote_memory());
    for (const ucs_memory_type_t type : {UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED}) {
        ucp_mem_map_params_t options{};
        options.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                             UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
        options.length = 1 << 20;
        options.flags = UCP_MEM_MAP_ALLOCATE;
        options.memory_type = type;
        ucp_mem_h memory = nullptr;
        REQUIRE(ucp_mem_map(in.owner, &options, &memory) == UCS_OK);
        ucp_mem_attr_t attr{};
        attr.field_mask =
            UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH | UCP_MEM_ATTR_FIELD_MEM_TYPE;
        REQUIRE(ucp_mem_query(memory, &attr) == UCS_OK);
        CHECK(attr.mem_type == type);
        CHECK(attr.length == options.length);
        in.exchange(in.ep, in.target, 10);
        CHECK(ucp_mem_unmap(in.owner, memory) == UCS_OK);
    }
}

TEST_CASE("a context names the memory types of CUDA") {
    const remote_world in(with_remote_memory());
    ucp_context_attr_t attr{};
    attr.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
    REQUIRE(ucp_context_query(in.owner, &attr) == UCS_OK);
    CHECK(attr.memory_types == 7);
}
