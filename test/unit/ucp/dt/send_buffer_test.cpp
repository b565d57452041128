#include "ucp/dt/send_buffer.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/dt/recording_type.hpp"
#include "test/unit/ucp/dt/scattered.hpp"

using namespace ucp::dt;

namespace {

using bytes = std::vector<std::byte>;

bytes slice(const bytes& from, std::size_t offset, std::size_t length) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

// Packs [offset, offset + length) into memory of exactly that size.
bytes packed(send_buffer& from, std::size_t offset, std::size_t length) {
    bytes into(length);
    std::byte nowhere{};
    into.resize(from.pack(into.empty() ? &nowhere : into.data(), offset, length));
    return into;
}

bytes gathered(send_buffer& from, std::size_t offset, std::size_t length, std::size_t capacity) {
    std::vector<uct::iov> out(capacity);
    bytes all;
    while (length > 0) {
        const piece_list list = from.pieces(offset, length, out);
        REQUIRE(list.count > 0);
        REQUIRE(list.count <= capacity);
        REQUIRE(uct::total_length({out.data(), list.count}) == list.length);
        for (std::size_t i = 0; i < list.count; ++i) {
            REQUIRE(out[i].length > 0);
            const auto* begin = static_cast<const std::byte*>(out[i].base);
            all.insert(all.end(), begin, begin + out[i].length);
        }
        offset += list.length;
        length -= list.length;
    }
    return all;
}

void check_everything(send_buffer& buffer, const bytes& data, std::mt19937_64& random) {
    REQUIRE(buffer.length() == data.size());
    for (std::size_t offset = 0; offset < data.size();) {  // in order
        const std::size_t length = std::min<std::size_t>(random() % 50, data.size() - offset);
        REQUIRE(packed(buffer, offset, length) == slice(data, offset, length));
        offset += length;
    }
    for (int i = 0; i < 30; ++i) {  // anywhere
        const std::size_t offset = random() % (data.size() + 1);
        const std::size_t length = random() % (data.size() - offset + 1);
        REQUIRE(packed(buffer, offset, length) == slice(data, offset, length));
        REQUIRE(gathered(buffer, offset, length, 1 + random() % 5) == slice(data, offset, length));
    }
    REQUIRE(packed(buffer, data.size(), 10).empty());
    REQUIRE(packed(buffer, data.size() + 5, 10).empty());
    bytes more = data;
    more.resize(data.size() + 7);
    REQUIRE(buffer.pack(more.data(), 0, more.size()) == data.size());
}

}  // namespace

TEST_CASE("a contiguous buffer is sent unchanged", "[ucp][dt]") {
    std::mt19937_64 random(1);
    for (const std::size_t size : {1U, 8U, 333U}) {
        const bytes data = test::random_bytes(random, size * 4);
        send_buffer buffer;
        REQUIRE(buffer.init(data.data(), size, ucp_dt_make_contig(4)) == UCS_OK);
        REQUIRE(buffer.contiguous() == data.data());
        REQUIRE(buffer.in_memory());
        check_everything(buffer, data, random);
        buffer.finish();
    }
}

TEST_CASE("pieces are sent as their concatenation", "[ucp][dt]") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const bytes data = test::random_bytes(random, random() % 400);
        test::scattered memory(random, data.size(), 1 + random() % 20);
        memory.fill(data);
        send_buffer buffer;
        REQUIRE(buffer.init(memory.pieces().data(), memory.pieces().size(), ucp_dt_make_iov()) ==
                UCS_OK);
        check_everything(buffer, data, random);
        buffer.finish();
    }
}

TEST_CASE("a list of one piece counts as a contiguous buffer", "[ucp][dt]") {
    char memory[10];
    const ucp_dt_iov_t one{memory, sizeof memory};
    send_buffer buffer;
    REQUIRE(buffer.init(&one, 1, ucp_dt_make_iov()) == UCS_OK);
    REQUIRE(buffer.contiguous() == memory);
    REQUIRE(buffer.length() == sizeof memory);
}

TEST_CASE("an empty send needs no buffer", "[ucp][dt]") {
    char target = 0;
    for (const ucp_datatype_t datatype : {ucp_dt_make_contig(8), ucp_dt_make_iov()}) {
        send_buffer buffer;
        REQUIRE(buffer.init(nullptr, 0, datatype) == UCS_OK);
        REQUIRE(buffer.length() == 0);
        REQUIRE(buffer.pack(&target, 0, 1) == 0);
        uct::iov out[1];
        REQUIRE(buffer.pieces(0, 1, out).count == 0);
    }
}

TEST_CASE("a generic datatype packs through its callbacks", "[ucp][dt]") {
    std::mt19937_64 random(7);
    bytes data = test::random_bytes(random, 100);
    test::recording_type type;
    send_buffer buffer;
    REQUIRE(buffer.init(data.data(), data.size(), type.datatype()) == UCS_OK);
    REQUIRE(buffer.length() == data.size());
    REQUIRE(buffer.contiguous() == nullptr);
    REQUIRE_FALSE(buffer.in_memory());
    for (std::byte& each : data)
        each = ~each;
    const bytes wire = data;
    for (std::byte& each : data)
        each = ~each;
    REQUIRE(packed(buffer, 40, 20) == slice(wire, 40, 20));
    REQUIRE(packed(buffer, 0, 100) == wire);
    REQUIRE(packed(buffer, 90, 20) == slice(wire, 90, 10));
    using call = test::recording_type::call;
    REQUIRE(type.calls == std::vector<call>{{40, 20}, {0, 100}, {90, 10}});
    buffer.finish();
    buffer.finish();
    REQUIRE(type.starts == 1);
    REQUIRE(type.finishes == 1);
}

TEST_CASE("a generic datatype may pack in small steps", "[ucp][dt]") {
    std::mt19937_64 random(8);
    const bytes data = test::random_bytes(random, 100);
    test::recording_type type;
    type.longest_pack = 7;
    send_buffer buffer;
    REQUIRE(buffer.init(data.data(), data.size(), type.datatype()) == UCS_OK);
    REQUIRE(packed(buffer, 10, 50).size() == 50);
    REQUIRE(type.calls.size() == 8);
    buffer.finish();
}

// MPI libraries do not split a number.
TEST_CASE("a generic datatype may leave space that is too small for an element", "[ucp][dt]") {
    std::mt19937_64 random(9);
    const bytes data = test::random_bytes(random, 96);
    test::recording_type type;
    type.element = 8;
    send_buffer buffer;
    REQUIRE(buffer.init(data.data(), data.size(), type.datatype()) == UCS_OK);
    test::log_capture logs;
    const bytes wire = packed(buffer, 0, 96);
    REQUIRE(packed(buffer, 0, 47) == slice(wire, 0, 40));
    REQUIRE(packed(buffer, 40, 47) == slice(wire, 40, 40));
    REQUIRE(logs.size() == 0);
    buffer.finish();
}

TEST_CASE("a generic datatype that stops early is reported", "[ucp][dt]") {
    const bytes data(10);
    test::recording_type type;
    type.longest_pack = 0;
    send_buffer buffer;
    REQUIRE(buffer.init(data.data(), data.size(), type.datatype()) == UCS_OK);
    test::log_capture logs;
    REQUIRE(packed(buffer, 0, 10).empty());
    REQUIRE(logs.size() == 1);
    buffer.finish();
    REQUIRE(type.finishes == 1);
}

TEST_CASE("impossible sends are refused with one log line and need no finish", "[ucp][dt]") {
    char memory[4];
    ucp_generic_dt_ops_t incomplete = test::recording_type::callbacks();
    incomplete.pack = nullptr;
    const ucp_datatype_t no_pack = *ucp::dt::create_generic(incomplete, nullptr);
    const ucp_dt_iov_t bad_piece[] = {{memory, 1}, {nullptr, 1}};
    struct {
        const void* buffer;
        std::size_t count;
        ucp_datatype_t datatype;
    } const cases[] = {
        {nullptr, 1, ucp_dt_make_contig(1)},
        {memory, std::size_t{1} << 40, ucp_dt_make_contig(std::size_t{1} << 40)},
        {nullptr, 1, ucp_dt_make_iov()},
        {bad_piece, 2, ucp_dt_make_iov()},
        {memory, 1, UCP_DATATYPE_STRIDED},
        {memory, 1, UCP_DATATYPE_GENERIC},
        {memory, 1, no_pack},
    };
    for (const auto& each : cases) {
        test::log_capture logs;
        send_buffer buffer;
        REQUIRE(buffer.init(each.buffer, each.count, each.datatype) == UCS_ERR_INVALID_PARAM);
        INFO(logs.text());
        REQUIRE(logs.size() == 1);
        REQUIRE(buffer.length() == 0);
        buffer.finish();
    }
    ucp::dt::destroy(no_pack);
}
