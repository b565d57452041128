// Put and get, with every access to a peer's memory.
#include <algorithm>

#include "test/integration/api/remote.hpp"

using namespace api;

namespace {

constexpr std::size_t lengths[] = {0,  1,  2,  3,   7,    8,    9,      16,     31,
                                   64, 65, 96, 250, 1000, 8192, 100000, 3 << 20};
constexpr std::size_t margin = 100;

bool holds(const std::byte* address, const std::vector<std::byte>& bytes) {
    return std::equal(bytes.begin(), bytes.end(), address);
}

// The data in pieces, one of them empty.
std::vector<ucp_dt_iov_t> in_pieces(std::vector<std::byte>& bytes) {
    const std::size_t first = bytes.size() / 3;
    return {{bytes.data(), first},
            {nullptr, 0},
            {bytes.data() + first, 1},
            {bytes.data() + first + 1, bytes.size() - first - 1}};
}

}  // namespace

TEST_CASE("put writes the given bytes and nothing else") {
    const remote_world in;
    const bool allocated = GENERATE(false, true);
    const remote_memory remote(in, (3 << 20) + 2 * margin, allocated);
    for (const std::size_t length : lengths) {
        INFO(length);
        std::memset(remote.base(), 0x55, length + 2 * margin);
        const auto data = pattern(length, static_cast<unsigned>(length) + 1);
        REQUIRE(remote.put(data.data(), length, margin) == UCS_OK);
        REQUIRE(in.flush() == UCS_OK);
        CHECK(holds(remote.base() + margin, data));
        const std::vector<std::byte> untouched(margin, std::byte{0x55});
        CHECK(holds(remote.base(), untouched));
        CHECK(holds(remote.base() + margin + length, untouched));
    }
}

TEST_CASE("get reads the remote bytes") {
    const remote_world in;
    const bool allocated = GENERATE(false, true);
    const remote_memory remote(in, 3 << 20, allocated);
    for (const std::size_t length : lengths) {
        INFO(length);
        const auto data = pattern(length, static_cast<unsigned>(length) + 2);
        if (length > 0) std::memcpy(remote.base(), data.data(), length);
        std::vector<std::byte> got(length + 1, std::byte{0x55});
        REQUIRE(remote.get(got.data(), length) == UCS_OK);
        CHECK(holds(got.data(), data));
        CHECK(got[length] == std::byte{0x55});
    }
}

TEST_CASE("put and get work with lists of pieces") {
    const remote_world in;
    const bool allocated = GENERATE(false, true);
    const remote_memory remote(in, 1 << 20, allocated);
    for (const std::size_t length : std::initializer_list<std::size_t>{3, 100, 10000, 1 << 20}) {
        auto data = pattern(length, 3);
        const auto pieces = in_pieces(data);
        const params list = params().type(ucp_dt_make_iov());
        REQUIRE(remote.put(pieces.data(), pieces.size(), 0, list) == UCS_OK);
        REQUIRE(in.flush_worker() == UCS_OK);
        CHECK(holds(remote.base(), data));
        std::vector<std::byte> got(length);
        auto into = in_pieces(got);
        REQUIRE(remote.get(into.data(), into.size(), 0, list) == UCS_OK);
        CHECK(got == data);
    }
}

TEST_CASE("the count is in elements of the datatype") {
    const remote_world in;
    const remote_memory remote(in, 1000, GENERATE(false, true));
    const auto data = pattern(960, 4);
    const params words = params().type(ucp_dt_make_contig(24));
    REQUIRE(remote.put(data.data(), 40, 0, words) == UCS_OK);
    REQUIRE(in.flush() == UCS_OK);
    CHECK(holds(remote.base(), data));
}

TEST_CASE("the older forms of put and get") {
    const remote_world in;
    const remote_memory remote(in, 100000, GENERATE(false, true));
    for (const std::size_t length : std::initializer_list<std::size_t>{8, 5000, 100000}) {
        const auto data = pattern(length, 5);
        std::vector<std::byte> got(length);
        const auto clear = [&] { std::memset(remote.base(), 0, length); };

        const ucs_status_t put =
            ucp_put_nbi(in.ep, data.data(), length, remote.address(), remote.key());
        CHECK((put == UCS_OK || put == UCS_INPROGRESS));
        REQUIRE(in.flush() == UCS_OK);
        CHECK(holds(remote.base(), data));
        const ucs_status_t get =
            ucp_get_nbi(in.ep, got.data(), length, remote.address(), remote.key());
        CHECK((get == UCS_OK || get == UCS_INPROGRESS));
        REQUIRE(in.flush_worker() == UCS_OK);
        CHECK(got == data);

        clear();
        got.assign(length, std::byte{0});
        REQUIRE(in.finish(ucp_put_nb(in.ep, data.data(), length, remote.address(), remote.key(),
                                     nullptr)) == UCS_OK);
        REQUIRE(in.flush() == UCS_OK);
        CHECK(holds(remote.base(), data));
        REQUIRE(in.finish(ucp_get_nb(in.ep, got.data(), length, remote.address(), remote.key(),
                                     nullptr)) == UCS_OK);
        CHECK(got == data);
    }
}

TEST_CASE("operations on remote memory support callbacks and requests of the program") {
    const remote_world in;
    const remote_memory remote(in, 100000, GENERATE(false, true));
    for (const std::size_t length : std::initializer_list<std::size_t>{0, 8, 100000}) {
        auto data = pattern(length, 6);
        outcome completion;
        const params options = params().on_send(completion).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        const ucs_status_ptr_t put =
            ucp_put_nbx(in.ep, data.data(), length, remote.address(), remote.key(), &options);
        REQUIRE(UCS_PTR_IS_PTR(put));
        REQUIRE(in.progress_until([&] { return completion.calls > 0; }));
        CHECK(completion.calls == 1);
        CHECK(completion.status == UCS_OK);
        CHECK(completion.handle == put);
        CHECK(in.finish(put) == UCS_OK);

        std::vector<std::byte> request_memory(request_bytes(in.context));
        void* const request = request_memory.data() + request_memory.size();
        const params own_request = params().request_memory(request);
        std::vector<std::byte> got(length);
        const ucs_status_ptr_t get =
            ucp_get_nbx(in.ep, got.data(), length, remote.address(), remote.key(), &own_request);
        REQUIRE(!UCS_PTR_IS_ERR(get));
        REQUIRE(
            in.progress_until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; }));
        CHECK(ucp_request_check_status(request) == UCS_OK);
        REQUIRE(in.flush() == UCS_OK);
    }
}

TEST_CASE("accesses outside of a key's memory, or without permission, are refused immediately") {
    const remote_world in;
    const remote_memory remote(in, 1000, GENERATE(false, true));
    char bytes[64] = {};
    const auto put = [&](std::uint64_t address, std::size_t length) {
        captured_output log;
        const ucs_status_t status =
            in.finish(ucp_put_nbx(in.ep, bytes, length, address, remote.key(), &none));
        if (status != UCS_OK) CHECK(log.text().find("refused") != std::string::npos);
        return status;
    };
    CHECK(put(remote.address(992), 8) == UCS_OK);
    CHECK(put(remote.address(993), 8) == UCS_ERR_INVALID_ADDR);
    CHECK(put(remote.address() - 1, 8) == UCS_ERR_INVALID_ADDR);
    CHECK(put(0, 8) == UCS_ERR_INVALID_ADDR);
    CHECK(put(~std::uint64_t{0}, 8) == UCS_ERR_INVALID_ADDR);
    {
        captured_output log;
        CHECK(remote.get(bytes, 8, 993) == UCS_ERR_INVALID_ADDR);
    }
    const remote_memory readable(in, 1000, false, UCP_MEM_MAP_PROT_REMOTE_READ);
    const remote_memory writable(in, 1000, false, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    captured_output log;
    CHECK(readable.put(bytes, 8) == UCS_ERR_REJECTED);
    CHECK(readable.get(bytes, 8) == UCS_OK);
    CHECK(writable.get(bytes, 8) == UCS_ERR_REJECTED);
    CHECK(writable.put(bytes, 8) == UCS_OK);
    CHECK(in.flush() == UCS_OK);
}

TEST_CASE("a key with a wrong secret or length gives no access at the owner") {
    if (!by_messages()) return;  // the system itself gives access to processes of the same user
    const remote_world in;
    const remote_memory remote(in, 1000, false);
    const auto good = remote.packed().bytes();
    // Offsets of id, secret and length.
    for (const std::size_t damaged : std::initializer_list<std::size_t>{4, 12, 29}) {
        auto bytes = good;
        bytes[damaged] ^= std::byte{8};
        const unpacked_rkey forged(in.ep, bytes.data());
        std::memset(remote.base(), 0x11, 1000);
        const std::uint64_t number = 7;
        const std::size_t offset = damaged == 29 ? 1000 : 0;  // 8 bytes behind the end, or inside
        captured_output log;
        CHECK(in.finish(ucp_put_nbx(in.ep, &number, 8, remote.address(offset), forged, &none)) ==
              UCS_OK);
        CHECK(in.flush() == UCS_ERR_INVALID_ADDR);
        std::uint64_t got = 0;
        CHECK(in.finish(ucp_get_nbx(in.ep, &got, 8, remote.address(offset), forged, &none)) ==
              UCS_ERR_INVALID_ADDR);
        CHECK(ucp_atomic_post(in.ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, remote.address(offset),
                              forged) >= UCS_OK);
        CHECK(in.flush_worker() == UCS_ERR_INVALID_ADDR);
        // Valid operations still work.
        CHECK(remote.put(&number, 8, 8) == UCS_OK);
        CHECK(in.flush() == UCS_OK);
        CHECK(std::memcmp(remote.base() + 8, &number, 8) == 0);
        CHECK(remote.base()[0] == std::byte{0x11});
        CHECK(log.text().find("is refused") != std::string::npos);
    }
}

TEST_CASE("the key of unmapped memory gives no access") {
    if (!by_messages()) return;
    const remote_world in;
    std::vector<std::byte> bytes(100);
    auto memory = std::make_unique<registered>(in.owner, bytes.data(), bytes.size());
    const packed_rkey packed(in.owner, *memory);
    const unpacked_rkey key(in.ep, packed);
    const std::uint64_t address = memory->address();
    memory.reset();
    const std::uint64_t number = 7;
    captured_output log;
    CHECK(in.finish(ucp_put_nbx(in.ep, &number, 8, address, key, &none)) == UCS_OK);
    CHECK(in.flush() == UCS_ERR_INVALID_ADDR);
    CHECK(bytes == std::vector<std::byte>(100));
}

TEST_CASE("registrations and datatypes of operations are checked") {
    const remote_world in;
    const remote_memory remote(in, 1000, GENERATE(false, true));
    char bytes[64] = {};
    const registered own(in.context, bytes, sizeof bytes);
    params with_memh = params().flag(UCP_OP_ATTR_FIELD_MEMH);
    with_memh.memh = own;
    CHECK(remote.put(bytes, 64, 0, with_memh) == UCS_OK);
    CHECK(remote.get(bytes, 64, 0, with_memh) == UCS_OK);
    CHECK(in.flush() == UCS_OK);
    captured_output log;
    CHECK(remote.put(bytes + 1, 64, 0, with_memh) == UCS_ERR_INVALID_PARAM);
    const ucp_generic_dt_ops_t no_functions{};
    ucp_datatype_t generic = 0;
    REQUIRE(ucp_dt_create_generic(&no_functions, nullptr, &generic) == UCS_OK);
    const params odd = params().type(generic);
    CHECK(remote.put(bytes, 1, 0, odd) == UCS_ERR_UNSUPPORTED);
    ucp_dt_destroy(generic);
}

TEST_CASE("the first operation of an endpoint may be a put") {
    const remote_world in;
    const remote_memory remote(in, 1000, GENERATE(false, true));
    const std::uint64_t number = 42;
    const params now = params().flag(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    const ucs_status_ptr_t immediate =
        ucp_put_nbx(in.ep, &number, 8, remote.address(), remote.key(), &now);
    CHECK((immediate == nullptr || UCS_PTR_STATUS(immediate) == UCS_ERR_NO_RESOURCE));
    std::uint64_t got = 0;
    const ucs_status_ptr_t put =
        ucp_put_nbx(in.ep, &number, 8, remote.address(), remote.key(), &none);
    const ucs_status_ptr_t flush = ucp_ep_flush_nbx(in.ep, &none);
    CHECK(in.finish(flush) == UCS_OK);
    CHECK(in.finish(put) == UCS_OK);
    CHECK(std::memcmp(remote.base(), &number, 8) == 0);
    CHECK(remote.get(&got, 8) == UCS_OK);
    CHECK(got == number);
}

TEST_CASE("a thousand puts and gets at once") {
    const remote_world in;
    constexpr std::size_t count = 1000, size = 3000;
    const remote_memory remote(in, count * size, GENERATE(false, true));
    const auto data = pattern(count * size, 7);
    for (std::size_t i = 0; i < count; ++i) {
        const ucs_status_t status = ucp_put_nbi(in.ep, data.data() + i * size, size,
                                                remote.address(i * size), remote.key());
        REQUIRE(status >= UCS_OK);
    }
    REQUIRE(in.flush() == UCS_OK);
    REQUIRE(holds(remote.base(), data));
    std::vector<std::byte> got(count * size);
    for (std::size_t i = 0; i < count; ++i) {
        const ucs_status_t status =
            ucp_get_nbi(in.ep, got.data() + i * size, size, remote.address(i * size), remote.key());
        REQUIRE(status >= UCS_OK);
    }
    REQUIRE(in.flush() == UCS_OK);
    CHECK(got == data);
}
