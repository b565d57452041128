#include "ucp/dt/recv_buffer.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/dt/recording_type.hpp"
#include "test/unit/ucp/dt/scattered.hpp"

using namespace ucp::dt;

namespace {

using bytes = std::vector<std::byte>;

struct fragment {
    std::size_t offset;
    std::size_t length;
};

// Returns [0, size) in random fragments, in order or shuffled, some of them empty.
std::vector<fragment> fragments(std::mt19937_64& random, std::size_t size, bool shuffled) {
    std::vector<fragment> all;
    for (std::size_t offset = 0; offset < size;) {
        const std::size_t length = std::min<std::size_t>(random() % 60, size - offset);
        all.push_back({offset, length});
        offset += length;
    }
    if (shuffled) std::shuffle(all.begin(), all.end(), random);
    return all;
}

void receive(recv_buffer& into, const bytes& data, std::mt19937_64& random, bool shuffled) {
    for (const fragment& each : fragments(random, data.size(), shuffled)) {
        const auto begin = data.begin() + static_cast<std::ptrdiff_t>(each.offset);
        const bytes exact(begin, begin + static_cast<std::ptrdiff_t>(each.length));
        REQUIRE(into.unpack(exact.data(), each.offset, each.length) == UCS_OK);
    }
}

// Writes the data through the pieces, like a transport that receives in place.
void receive_in_place(recv_buffer& into, const bytes& data, std::mt19937_64& random) {
    std::vector<uct::iov> out(1 + random() % 4);
    for (std::size_t offset = 0; offset < data.size();) {
        const piece_list list = into.pieces(offset, data.size() - offset, out);
        REQUIRE(list.length > 0);
        for (std::size_t i = 0; i < list.count; ++i) {
            std::memcpy(out[i].base, data.data() + offset, out[i].length);
            offset += out[i].length;
        }
    }
}

}  // namespace

TEST_CASE("a contiguous receive takes fragments in any order", "[ucp][dt]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const bytes data = test::random_bytes(random, 8 * (random() % 60));
        bytes memory(data.size());
        recv_buffer buffer;
        const std::size_t count = data.size() / 8;
        REQUIRE(buffer.init(memory.data(), count, ucp_dt_make_contig(8)) == UCS_OK);
        REQUIRE(buffer.capacity() == data.size());
        REQUIRE(buffer.contiguous() == memory.data());
        receive(buffer, data, random, seed % 2 == 0);
        REQUIRE(memory == data);
        buffer.finish();
    }
}

TEST_CASE("pieces are filled by fragments in any order", "[ucp][dt]") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const bytes data = test::random_bytes(random, random() % 600);
        const test::scattered memory(random, data.size(), 1 + random() % 20);
        auto list = memory.pieces();
        recv_buffer buffer;
        REQUIRE(buffer.init(list.data(), list.size(), ucp_dt_make_iov()) == UCS_OK);
        REQUIRE(buffer.capacity() == data.size());
        if (seed % 3 == 0) {
            receive_in_place(buffer, data, random);
        } else {
            receive(buffer, data, random, seed % 3 == 1);
        }
        REQUIRE(memory.content() == data);
        buffer.finish();
    }
}

TEST_CASE("a shorter message does not change the rest of the buffer", "[ucp][dt]") {
    char memory[8] = "abcdefg";
    recv_buffer buffer;
    REQUIRE(buffer.init(memory, sizeof memory, ucp_dt_make_contig(1)) == UCS_OK);
    REQUIRE(buffer.unpack("XY", 1, 2) == UCS_OK);
    REQUIRE(std::string(memory) == "aXYdefg");
}

TEST_CASE("bytes beyond the capacity are refused and not stored", "[ucp][dt]") {
    std::mt19937_64 random(3);
    const bytes untouched(10, std::byte{0x55});
    bytes memory = untouched;
    test::scattered pieces(random, memory.size(), 4);
    pieces.fill(untouched);
    auto list = pieces.pieces();
    test::recording_type type;

    recv_buffer contig;
    recv_buffer iov;
    recv_buffer generic;
    REQUIRE(contig.init(memory.data(), memory.size(), ucp_dt_make_contig(1)) == UCS_OK);
    REQUIRE(iov.init(list.data(), list.size(), ucp_dt_make_iov()) == UCS_OK);
    REQUIRE(generic.init(memory.data(), memory.size(), type.datatype()) == UCS_OK);
    const bytes data(20);
    for (recv_buffer* each : {&contig, &iov, &generic}) {
        REQUIRE(each->unpack(data.data(), 0, 11) == UCS_ERR_MESSAGE_TRUNCATED);
        REQUIRE(each->unpack(data.data(), 10, 1) == UCS_ERR_MESSAGE_TRUNCATED);
        REQUIRE(each->unpack(data.data(), 11, 0) == UCS_ERR_MESSAGE_TRUNCATED);
        REQUIRE(each->unpack(data.data(), ~std::size_t{0}, 2) == UCS_ERR_MESSAGE_TRUNCATED);
        REQUIRE(each->unpack(data.data(), 10, 0) == UCS_OK);
        each->finish();
    }
    REQUIRE(memory == untouched);
    REQUIRE(pieces.content() == untouched);
    REQUIRE(type.calls.empty());
    REQUIRE(type.finishes == 1);
}

TEST_CASE("a generic datatype unpacks at the offsets that arrive", "[ucp][dt]") {
    bytes memory(6);
    test::recording_type type;
    recv_buffer buffer;
    REQUIRE(buffer.init(memory.data(), memory.size(), type.datatype()) == UCS_OK);
    REQUIRE(buffer.capacity() == 6);
    REQUIRE(buffer.contiguous() == nullptr);
    const bytes wire(6, std::byte{0x0f});
    REQUIRE(buffer.unpack(wire.data(), 4, 2) == UCS_OK);
    REQUIRE(buffer.unpack(wire.data(), 0, 4) == UCS_OK);
    using call = test::recording_type::call;
    REQUIRE(type.calls == std::vector<call>{{4, 2}, {0, 4}});
    REQUIRE(memory == bytes(6, std::byte{0xf0}));
    buffer.finish();
    buffer.finish();
    REQUIRE(type.starts == 1);
    REQUIRE(type.finishes == 1);
}

TEST_CASE("the error of a generic unpack is returned", "[ucp][dt]") {
    bytes memory(6);
    test::recording_type type;
    type.unpack_status = UCS_ERR_IO_ERROR;
    recv_buffer buffer;
    REQUIRE(buffer.init(memory.data(), memory.size(), type.datatype()) == UCS_OK);
    REQUIRE(buffer.unpack(memory.data(), 0, 3) == UCS_ERR_IO_ERROR);
    buffer.finish();
    REQUIRE(type.finishes == 1);
}

TEST_CASE("impossible receives are refused with one log line and need no finish", "[ucp][dt]") {
    char memory[4];
    ucp_generic_dt_ops_t incomplete = test::recording_type::callbacks();
    incomplete.unpack = nullptr;
    const ucp_datatype_t no_unpack = *ucp::dt::create_generic(incomplete, nullptr);
    struct {
        void* buffer;
        std::size_t count;
        ucp_datatype_t datatype;
    } const cases[] = {
        {nullptr, 1, ucp_dt_make_contig(1)},
        {memory, std::size_t{1} << 40, ucp_dt_make_contig(std::size_t{1} << 40)},
        {nullptr, 1, ucp_dt_make_iov()},
        {memory, 1, UCP_DATATYPE_STRIDED},
        {memory, 1, UCP_DATATYPE_GENERIC},
        {memory, 1, no_unpack},
    };
    for (const auto& each : cases) {
        test::log_capture logs;
        recv_buffer buffer;
        REQUIRE(buffer.init(each.buffer, each.count, each.datatype) == UCS_ERR_INVALID_PARAM);
        INFO(logs.text());
        REQUIRE(logs.size() == 1);
        REQUIRE(buffer.capacity() == 0);
        buffer.finish();
    }
    ucp::dt::destroy(no_unpack);
}
