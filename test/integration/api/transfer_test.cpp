// Every pair of datatypes, with every protocol.
#include <catch2/catch.hpp>
#include <cstring>

#include "test/integration/api/inverting_type.hpp"

using namespace api;

namespace {

enum class shape { contig, iov, generic };

using inverting = inverting_type<1>;

// Memory of a message, in one of the shapes.
struct message {
    std::vector<std::byte> memory;
    std::vector<ucp_dt_iov_t> pieces;
    shape kind;
    inverting* generic;

    message(shape message_kind, std::vector<std::byte> bytes, inverting& datatype)
        : memory(std::move(bytes)), kind(message_kind), generic(&datatype) {
        if (kind != shape::iov) return;
        // Uneven pieces, one of them empty.
        std::size_t position = 0;
        std::size_t next = 3;
        pieces.push_back({nullptr, 0});
        while (position < memory.size()) {
            const std::size_t part = std::min(next, memory.size() - position);
            pieces.push_back({memory.data() + position, part});
            position += part;
            next = next * 5 + 1;
        }
    }
    void* buffer() {
        return kind == shape::iov ? static_cast<void*>(pieces.data()) : memory.data();
    }
    [[nodiscard]] std::size_t count() const {
        return kind == shape::iov ? pieces.size() : memory.size();
    }
    [[nodiscard]] ucp_datatype_t type() const {
        if (kind == shape::iov) return UCP_DATATYPE_IOV;
        return kind == shape::generic ? generic->type : ucp_dt_make_contig(1);
    }
};

struct transfer_mode {
    bool expected;
    bool sync;
    bool truncated;
};

void transfer(const world& in, inverting& generic, shape from, shape to, transfer_mode mode,
              std::size_t length) {
    static unsigned seed = 0;
    const auto data = pattern(length, ++seed);
    const std::size_t buffer_size = mode.truncated ? length - 1 - length / 3 : length + length / 4;
    message send(from, data, generic);
    message recv(to, std::vector<std::byte>(buffer_size), generic);
    outcome got, sent;
    const params for_recv =
        params().type(recv.type()).on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    const params for_send =
        params().type(send.type()).on_send(sent).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    ucs_status_ptr_t receiving = nullptr;
    const auto post = [&] {
        receiving =
            ucp_tag_recv_nbx(in.receiver, recv.buffer(), recv.count(), 1, all_bits, &for_recv);
    };
    if (mode.expected) post();
    const auto start = mode.sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
    const auto sending = start(in.ep, send.buffer(), send.count(), 1, &for_send);
    if (!mode.expected) {
        in.await_unexpected(1);
        post();
    }
    const ucs_status_t wanted = mode.truncated ? UCS_ERR_MESSAGE_TRUNCATED : UCS_OK;
    REQUIRE(in.finish(receiving) == wanted);
    REQUIRE(in.finish(sending) == UCS_OK);
    REQUIRE(got.calls == 1);
    REQUIRE(sent.calls == 1);
    REQUIRE(got.status == wanted);
    REQUIRE(generic.opened == generic.finished);
    if (mode.truncated) return;
    REQUIRE(got.info.length == length);
    const bool inverted = (from == shape::generic) != (to == shape::generic);
    for (std::size_t i = 0; i < buffer_size; ++i) {
        std::byte wanted_byte = i < length ? data[i] : std::byte{0};
        if (inverted && i < length) wanted_byte = ~wanted_byte;
        if (recv.memory[i] != wanted_byte) FAIL("byte " << i << " of " << length << " differs");
    }
}

void transfer_all(const world& in, const std::vector<std::size_t>& sizes) {
    inverting generic;
    for (const std::size_t length : sizes) {
        for (unsigned i = 0; i < 72; ++i) {
            const auto from = static_cast<shape>(i % 3);
            const auto to = static_cast<shape>(i / 3 % 3);
            const transfer_mode mode{(i / 9 & 1) != 0, (i / 18 & 1) != 0, (i / 36 & 1) != 0};
            if (mode.truncated && length == 0) continue;
            INFO("length " << length << " from " << static_cast<int>(from) << " to "
                           << static_cast<int>(to) << (mode.expected ? " expected" : " unexpected")
                           << (mode.sync ? " sync" : "") << (mode.truncated ? " truncated" : ""));
            transfer(in, generic, from, to, mode, length);
        }
    }
}

// The limits of all transports, without their headers, lie near the powers of two.
std::vector<std::size_t> common_sizes() {
    std::vector<std::size_t> sizes{0, 1, 7, 40, 8160, 8224, 8240, 8256};
    for (std::size_t each = 16; each <= 256 * 1024; each *= 2) {
        for (const std::size_t length : {each - 1, each, each + 1})
            sizes.push_back(length);
    }
    return sizes;
}

std::string name_of(const settings& config) {
    std::string text;
    for (const auto& [name, value] : config)
        text += name + "=" + value + " ";
    return text;
}

}  // namespace

TEST_CASE("all datatypes, modes and sizes work with the protocols that the library selects") {
    const world in;
    transfer_all(in, common_sizes());
    transfer_all(in, {(1 << 20) + 3});
}

TEST_CASE("all datatypes and modes work at every protocol threshold that options can set") {
    const settings config = GENERATE(
        settings{{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "get_zcopy"}},
        settings{{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "am"}},
        settings{{"RNDV_THRESH", "1000"}, {"RNDV_SCHEME", "put_zcopy"}},
        settings{{"RNDV_THRESH", "1000"}}, settings{{"RNDV_THRESH", "inf"}},
        settings{{"BCOPY_THRESH", "0"}, {"RNDV_THRESH", "inf"}},
        settings{{"ZCOPY_THRESH", "0"}, {"RNDV_THRESH", "64k"}},
        settings{{"ZCOPY_THRESH", "inf"}, {"RNDV_THRESH", "64k"}, {"RNDV_FRAG_SIZE", "16k"}});
    INFO(name_of(config));
    const world in(configured(config));
    transfer_all(in, {0, 1, 8, 92, 999, 1000, 1001, 8176, 8192, 65535, 65536, 65537, 200001});
}

TEST_CASE("sixteen megabytes arrive as they were sent, by every scheme") {
    const std::string scheme = GENERATE("auto", "get_zcopy", "put_zcopy", "am");
    CAPTURE(scheme);
    const world in(configured({{"RNDV_SCHEME", scheme}, {"RNDV_THRESH", "8k"}}));
    in.exchange(in.ep, in.receiver, 16 << 20);
}

TEST_CASE("an error of the unpack function is the status of the receive") {
    const std::size_t length = GENERATE(as<std::size_t>(), 8, 5000, 100000, 1 << 20);
    const bool expected = GENERATE(false, true);
    CAPTURE(length, expected);
    const world in;
    inverting generic;
    generic.fails_from = 0;
    std::vector<std::byte> data(length), into(length);
    const params options = params().type(generic.type).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    ucs_status_ptr_t receiving = nullptr;
    if (expected) {
        receiving = ucp_tag_recv_nbx(in.receiver, into.data(), length, 1, all_bits, &options);
    }
    const auto sending = ucp_tag_send_nbx(in.ep, data.data(), length, 1, &none);
    if (!expected) {
        in.await_unexpected(1);
        receiving = ucp_tag_recv_nbx(in.receiver, into.data(), length, 1, all_bits, &options);
    }
    CHECK(in.finish(receiving) == UCS_ERR_IO_ERROR);
    CHECK(in.finish(sending) == UCS_OK);
    CHECK(generic.opened == generic.finished);
}

TEST_CASE("elements of any size make a contiguous message") {
    const world in;
    std::uint64_t data[5] = {1, 2, 3, 4, 5};
    std::uint64_t into[5] = {};
    const params options = params().type(ucp_dt_make_contig(sizeof data[0]));
    CHECK(in.finish(ucp_tag_send_nbx(in.ep, data, 5, 1, &options)) == UCS_OK);
    in.await_unexpected(1);
    CHECK(in.finish(ucp_tag_recv_nbx(in.receiver, into, 5, 1, all_bits, &options)) == UCS_OK);
    CHECK(std::memcmp(data, into, sizeof data) == 0);
}

TEST_CASE("ucp_dt_query returns the packed size of every datatype") {
    inverting generic;
    ucp_datatype_attr_t attr{};
    attr.field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE | UCP_DATATYPE_ATTR_FIELD_COUNT |
                      UCP_DATATYPE_ATTR_FIELD_BUFFER;
    attr.count = 7;
    CHECK(ucp_dt_query(ucp_dt_make_contig(3), &attr) == UCS_OK);
    CHECK(attr.packed_size == 21);
    char memory[7];
    attr.buffer = memory;
    CHECK(ucp_dt_query(generic.type, &attr) == UCS_OK);
    CHECK(attr.packed_size == 7);
    CHECK(generic.opened == generic.finished);
    const ucp_dt_iov_t pieces[] = {{memory, 3}, {memory, 4}};
    attr.buffer = pieces;
    attr.count = 2;
    CHECK(ucp_dt_query(UCP_DATATYPE_IOV, &attr) == UCS_OK);
    CHECK(attr.packed_size == 7);
    attr.field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE;  // one element
    CHECK(ucp_dt_query(ucp_dt_make_contig(3), &attr) == UCS_OK);
    CHECK(attr.packed_size == 3);
}
