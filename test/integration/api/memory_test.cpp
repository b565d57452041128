// Registered memory and the keys to it.
#include "test/integration/api/memory.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

using namespace api;

namespace {

ucs_status_t pack_for_export(ucp_mem_h memh, void*& buffer, std::size_t& size) {
    ucp_memh_pack_params_t options{};
    options.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS;
    options.flags = UCP_MEMH_PACK_FLAG_EXPORT;
    return ucp_memh_pack(memh, &options, &buffer, &size);
}

}  // namespace

TEST_CASE("memory is mapped, queried and unmapped") {
    const world in;
    auto bytes = pattern(1000, 1);
    const registered own(in.context, bytes.data(), bytes.size());
    const ucp_mem_attr_t attr = own.query();
    CHECK(attr.address == bytes.data());
    CHECK(attr.length == bytes.size());
    CHECK(attr.mem_type == UCS_MEMORY_TYPE_HOST);
}

TEST_CASE("the library allocates memory") {
    const world in;
    const registered made(in.context, std::size_t{10000});
    const ucp_mem_attr_t attr = made.query();
    REQUIRE(attr.address != nullptr);
    CHECK(attr.length >= 10000);
    std::memset(attr.address, 1, 10000);
}

TEST_CASE("the library allocates memory at a given address") {
    const world in;
    constexpr std::size_t length = 1 << 20;
    void* address = ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(address != MAP_FAILED);
    ucp_mem_map_params_t options{};
    options.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                         UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    options.address = address;
    options.length = length;
    options.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED;
    ucp_mem_h memh = nullptr;
    {
        captured_output log;
        CHECK(ucp_mem_map(in.context, &options, &memh) != UCS_OK);
        CHECK(log.text().find("could not be allocated") != std::string::npos);
    }
    ::munmap(address, length);
    REQUIRE(ucp_mem_map(in.context, &options, &memh) == UCS_OK);
    std::memset(address, 1, length);
    CHECK(ucp_mem_unmap(in.context, memh) == UCS_OK);
}

TEST_CASE("memory of zero length is registered, packed and unpacked") {
    const world in;
    const registered empty(in.context, nullptr, 0);
    const packed_rkey packed(in.context, empty);
    const unpacked_rkey key(in.ep, packed);
    void* pointer = nullptr;
    CHECK(ucp_rkey_ptr(key, 0, &pointer) != UCS_OK);
}

TEST_CASE("members of a registration without their bit are not read") {
    const world in;
    char bytes[8] = {};
    ucp_mem_map_params_t options;
    std::memset(&options, 0xff, sizeof options);
    options.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    options.address = bytes;
    options.length = sizeof bytes;
    ucp_mem_h memh = nullptr;
    REQUIRE(ucp_mem_map(in.context, &options, &memh) == UCS_OK);
    CHECK(ucp_mem_unmap(in.context, memh) == UCS_OK);
}

TEST_CASE("packed keys are short and contain their own length") {
    const world in;
    char bytes[8] = {};
    const registered own(in.context, bytes, sizeof bytes);
    const registered made(in.context, std::size_t{4096});
    for (const registered* each : {&own, &made}) {
        const packed_rkey packed(in.context, *each);
        CHECK(packed.size() > 0);
        CHECK(packed.size() <= 255);  // with keys of RDMA devices; without them, 64
        // Bytes behind the key are not read.
        const auto exact = packed.bytes();
        const guarded_memory copy(exact.size());
        std::memcpy(copy.get(), exact.data(), exact.size());
        ucp_rkey_h key = nullptr;
        REQUIRE(ucp_ep_rkey_unpack(in.ep, copy.get(), &key) == UCS_OK);
        ucp_rkey_destroy(key);
    }
}

TEST_CASE("ucp_rkey_ptr returns pointers to memory of the program and of the library") {
    const world in;
    auto bytes = pattern(1000, 1);
    const registered own(in.context, bytes.data(), bytes.size());
    const registered made(in.context, std::size_t{5000});
    for (const registered* each : {&own, &made}) {
        const packed_rkey packed(in.context, *each);
        const unpacked_rkey key(in.ep, packed);
        const ucp_mem_attr_t attr = each->query();
        const auto base = reinterpret_cast<std::uint64_t>(attr.address);
        void* pointer = nullptr;
        REQUIRE(ucp_rkey_ptr(key, base + 100, &pointer) == UCS_OK);
        std::memset(pointer, 0x3c, 8);
        CHECK(std::memcmp(static_cast<std::byte*>(attr.address) + 100, pointer, 8) == 0);
        CHECK(ucp_rkey_ptr(key, base - 1, &pointer) == UCS_ERR_INVALID_ADDR);
        CHECK(ucp_rkey_ptr(key, base + attr.length, &pointer) == UCS_ERR_INVALID_ADDR);
    }
}

TEST_CASE("memory of another context of the host is mapped, or ucp_rkey_ptr fails") {
    const world in;
    const char* const transports = std::getenv("UCX_TLS");
    const bool shared = transports == nullptr || std::string(transports) == "posix,self" ||
                        std::string(transports) == "sm,self";
    const ucp_context_h other = make_context({});
    {
        auto bytes = pattern(1000, 1);
        const registered own(other, bytes.data(), bytes.size());
        const packed_rkey to_own(other, own);
        const unpacked_rkey key_to_own(in.ep, to_own);
        void* pointer = nullptr;
        CHECK(ucp_rkey_ptr(key_to_own, own.address(), &pointer) == UCS_ERR_UNREACHABLE);

        const registered made(other, std::size_t{5000});
        const packed_rkey to_made(other, made);
        const unpacked_rkey key_to_made(in.ep, to_made);
        const ucs_status_t status = ucp_rkey_ptr(key_to_made, made.address() + 4999, &pointer);
        REQUIRE(status == (shared ? UCS_OK : UCS_ERR_UNREACHABLE));
        if (shared) {
            *static_cast<char*>(pointer) = 'x';
            CHECK(static_cast<const char*>(made.query().address)[4999] == 'x');
        }
    }
    ucp_cleanup(other);
}

TEST_CASE("keys are compared") {
    const world in;
    char bytes[16] = {};
    const registered first(in.context, bytes, 16);
    const registered second(in.context, bytes, 16);
    const packed_rkey packed(in.context, first);
    const packed_rkey packed_second(in.context, second);
    const unpacked_rkey a(in.ep, packed);
    const unpacked_rkey b(in.ep, packed);
    const unpacked_rkey c(in.ep, packed_second);
    const ucp_rkey_compare_params_t no_params{};
    const auto order = [&](ucp_rkey_h left, ucp_rkey_h right) {
        int result = 77;
        REQUIRE(ucp_rkey_compare(in.sender, left, right, &no_params, &result) == UCS_OK);
        return result;
    };
    CHECK(order(a, b) == 0);
    CHECK(order(a, c) != 0);
    CHECK((order(a, c) < 0) == (order(c, a) > 0));
}

TEST_CASE("forged and damaged keys are refused") {
    const world in;
    char bytes[16] = {};
    const registered own(in.context, bytes, 16);
    const packed_rkey packed(in.context, own);
    auto damaged = packed.bytes();
    ucp_rkey_h key = nullptr;
    for (std::size_t offset = 0; offset < 4; ++offset) {
        auto copy = damaged;
        copy.resize(256);
        copy[offset] = std::byte{0xee};
        captured_output log;
        CHECK(ucp_ep_rkey_unpack(in.ep, copy.data(), &key) == UCS_ERR_INVALID_PARAM);
        CHECK(log.text().find("key") != std::string::npos);
    }
    // A key with a wrong secret does not even reach memory of this process.
    damaged[12] ^= std::byte{1};
    REQUIRE(ucp_ep_rkey_unpack(in.ep, damaged.data(), &key) == UCS_OK);
    void* pointer = nullptr;
    CHECK(ucp_rkey_ptr(key, own.address(), &pointer) == UCS_ERR_UNREACHABLE);
    ucp_rkey_destroy(key);
}

TEST_CASE("the library's memory is exported and imported, the program's is not") {
    const world in;
    const ucp_context_h other = make_context({});
    {
        char bytes[16] = {};
        const registered own(in.context, bytes, 16);
        const registered made(in.context, std::size_t{5000});
        void* buffer = nullptr;
        std::size_t size = 0;
        CHECK(pack_for_export(own, buffer, size) == UCS_ERR_UNSUPPORTED);
        REQUIRE(pack_for_export(made, buffer, size) == UCS_OK);
        ucp_rkey_h key = nullptr;
        {
            captured_output log;
            CHECK(ucp_ep_rkey_unpack(in.ep, buffer, &key) == UCS_ERR_INVALID_PARAM);
        }
        for (const ucp_context_h context : {in.context, other}) {
            const registered imported(context, buffer);
            CHECK(imported.query().length == 5000);
            static_cast<char*>(imported.query().address)[7] = context == other ? 'o' : 's';
            CHECK(static_cast<const char*>(made.query().address)[7] ==
                  (context == other ? 'o' : 's'));
        }
        ucp_memh_buffer_release(buffer, nullptr);
    }
    ucp_cleanup(other);
}

namespace {

// Data that another process exported.
struct exported {
    std::array<std::byte, 256> packed;
    std::size_t length;
};

// Does not return. Replies in the memory to a value that is written there, and ends when the pipe
// is closed.
[[noreturn]] void export_memory(int output, int input) {
    const ucp_context_h context = make_context({});
    const registered made(context, std::size_t{5000});
    void* buffer = nullptr;
    exported description{};
    if (pack_for_export(made, buffer, description.length) != UCS_OK) ::_exit(2);
    if (description.length > description.packed.size()) ::_exit(3);
    std::memcpy(description.packed.data(), buffer, description.length);
    auto* const bytes = static_cast<unsigned char*>(made.query().address);
    bytes[4999] = 'e';
    if (::write(output, &description, sizeof description) != sizeof description) ::_exit(4);
    char word = 0;
    if (::read(input, &word, 1) != 1) ::_exit(5);  // the other process has written
    bytes[4999] = static_cast<unsigned char>(bytes[7] + 1);
    if (::write(output, &word, 1) != 1) ::_exit(6);
    while (::read(input, &word, 1) > 0) {
    }
    ::_exit(0);
}

}  // namespace

TEST_CASE("the memory of another process is imported") {
    int to_parent[2], to_child[2];
    REQUIRE(::pipe(to_parent) == 0);
    REQUIRE(::pipe(to_child) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::close(to_child[1]);
        try {
            export_memory(to_parent[1], to_child[0]);
        } catch (...) {
            ::_exit(1);
        }
    }
    ::close(to_parent[1]);
    exported description{};
    REQUIRE(::read(to_parent[0], &description, sizeof description) == sizeof description);
    {
        const world in;
        const registered imported(in.context, description.packed.data());
        CHECK(imported.query().length == 5000);
        auto* const bytes = static_cast<unsigned char*>(imported.query().address);
        CHECK(bytes[4999] == 'e');
        bytes[7] = 'a';
        char word = 'w';
        REQUIRE(::write(to_child[1], &word, 1) == 1);
        REQUIRE(::read(to_parent[0], &word, 1) == 1);
        CHECK(bytes[4999] == 'b');
    }
    ::close(to_child[1]);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    ::close(to_parent[0]);
    ::close(to_child[0]);
}

TEST_CASE("advice is accepted for parts of registered memory") {
    const world in;
    const registered made(in.context, std::size_t{100000});
    ucp_mem_advise_params_t options{};
    options.field_mask = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS | UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                         UCP_MEM_ADVISE_PARAM_FIELD_ADVICE;
    options.address = static_cast<std::byte*>(made.query().address) + 5000;
    options.length = 95000;
    options.advice = UCP_MADV_WILLNEED;
    CHECK(ucp_mem_advise(in.context, made, &options) == UCS_OK);
    options.advice = UCP_MADV_NORMAL;
    CHECK(ucp_mem_advise(in.context, made, &options) == UCS_OK);
    captured_output log;
    options.length += 1;
    CHECK(ucp_mem_advise(in.context, made, &options) == UCS_ERR_INVALID_PARAM);
    options.length -= 1;
    options.field_mask = 0;
    CHECK(ucp_mem_advise(in.context, made, &options) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("the cost of memory is printed") {
    const world in;
    const std::string text =
        printed([&](FILE* stream) { ucp_mem_print_info("64K", in.context, stream); });
    CHECK(text.find("65536 bytes") != std::string::npos);
    captured_output log;
    CHECK(printed([&](FILE* stream) { ucp_mem_print_info("much", in.context, stream); }).empty());
}
