// Tests streams whose elements have a generic datatype, which callbacks of the program pack and
// unpack.
#include "test/integration/api/inverting_type.hpp"
#include "test/integration/api/streams.hpp"

using namespace api;

namespace {

using sparse = inverting_type<7, 11>;

ucs_status_ptr_t write(const pair& in, const sparse& datatype,
                       const std::vector<std::byte>& memory) {
    const params options = params().type(datatype.type);
    return ucp_stream_send_nbx(in.ep, memory.data(), memory.size() / sparse::stride, &options);
}

// A receive of elements. end() polls with ucp_stream_recv_request_test until it has ended.
struct reading {
    std::vector<std::byte> memory;
    std::size_t length = 0;
    ucs_status_ptr_t running;

    reading(const pair& in, const sparse& datatype, std::size_t count, bool wait_all)
        : memory(sparse::memory(count, std::byte{0x5a})) {
        const params options =
            params().type(datatype.type).flags_of_call(UCP_STREAM_RECV_FLAG_WAITALL, wait_all);
        running = ucp_stream_recv_nbx(in.back, memory.data(), count, &length, &options);
    }
    ucs_status_t end(const pair& in) {
        if (!UCS_PTR_IS_PTR(running)) return UCS_PTR_STATUS(running);
        REQUIRE(in.progress_until(
            [&] { return ucp_stream_recv_request_test(running, &length) != UCS_INPROGRESS; }));
        return in.finish(running);
    }
};

void wait_for_bytes(const pair& in) {
    ucp_stream_poll_ep_t ready;
    REQUIRE(
        in.progress_until([&] { return ucp_stream_worker_poll(in.receiver, &ready, 1, 0) == 1; }));
}

}  // namespace

TEST_CASE("streams of generic datatypes of every size are packed and unpacked") {
    const settings config =
        GENERATE(settings{}, settings{{"STREAM_WINDOW", "256k"}, {"ZCOPY_THRESH", "0"}});
    const pair in(for_streams(config));
    sparse datatype;
    datatype.pack_limit = GENERATE(as<std::size_t>(), 13, ~std::size_t{0});
    const bool posted_first = GENERATE(false, true);
    int operations = 0;
    for (const std::size_t count : {1U, 100U, 3000U, 20'000U, 100'000U}) {
        const auto packed = pattern(count * sparse::width, 3);
        const auto from = sparse::holding(packed, std::byte{0x11});
        const ucs_status_ptr_t early = posted_first ? nullptr : write(in, datatype, from);
        reading all(in, datatype, count, true);
        const ucs_status_ptr_t writing = posted_first ? write(in, datatype, from) : early;
        CHECK(all.end(in) == UCS_OK);
        CHECK(all.length == packed.size());
        CHECK(all.memory == sparse::holding(packed, std::byte{0x5a}));  // gaps are unchanged
        CHECK(in.finish(writing) == UCS_OK);
        operations += 2;
        CHECK(datatype.opened == operations);
        CHECK(datatype.finished == operations);
    }
}

TEST_CASE("a stream's bytes do not depend on the datatypes of both sides") {
    const pair in;
    sparse datatype;
    const std::size_t length = 5000 * sparse::width;
    const auto packed = pattern(length, 4);
    const ucs_status_ptr_t writing = write(in, datatype, sparse::holding(packed, std::byte{0}));
    std::vector<std::byte> got;
    while (got.size() < length) {
        in.progress();
        const auto some = in.read_some(1001);
        got.insert(got.end(), some.begin(), some.end());
    }
    CHECK(got == packed);
    CHECK(in.finish(writing) == UCS_OK);
    const ucs_status_ptr_t back = in.write(packed);
    reading all(in, datatype, 5000, true);
    CHECK(all.end(in) == UCS_OK);
    CHECK(all.memory == sparse::holding(packed, std::byte{0x5a}));
    CHECK(in.finish(back) == UCS_OK);
}

TEST_CASE("a receive of a generic datatype ends within an element, WAITALL does not") {
    const pair in;
    sparse datatype;
    const auto packed = pattern(3 * sparse::width + 4, 5);
    CHECK(in.finish(in.write(packed)) == UCS_OK);
    wait_for_bytes(in);
    reading some(in, datatype, 10, false);
    CHECK(some.end(in) == UCS_OK);
    CHECK(some.length == packed.size());
    auto expected = sparse::holding(packed, std::byte{0x5a});
    expected.resize(some.memory.size(), std::byte{0x5a});
    CHECK(some.memory == expected);

    CHECK(in.finish(in.write(packed)) == UCS_OK);
    wait_for_bytes(in);
    reading all(in, datatype, 4, true);
    REQUIRE(UCS_PTR_IS_PTR(all.running));
    const auto rest = pattern(3, 6);
    CHECK(in.finish(in.write(rest)) == UCS_OK);
    CHECK(all.end(in) == UCS_OK);
    CHECK(all.length == 4 * sparse::width);
    auto complete = packed;
    complete.insert(complete.end(), rest.begin(), rest.end());
    CHECK(all.memory == sparse::holding(complete, std::byte{0x5a}));
    CHECK(datatype.finished == 2);
}

TEST_CASE("a receive whose unpacking fails ends with that error, and the next one still works") {
    const pair in;
    sparse datatype;
    const std::size_t count = GENERATE(as<std::size_t>(), 50, 40'000);
    const bool posted_first = GENERATE(false, true);
    const auto packed = pattern(count * sparse::width, 7);
    datatype.fails_from = packed.size() / 2;
    const ucs_status_ptr_t early = posted_first ? nullptr : in.write(packed);
    if (!posted_first) wait_for_bytes(in);
    reading failing(in, datatype, count, true);
    const ucs_status_ptr_t writing = posted_first ? in.write(packed) : early;
    CHECK(failing.end(in) == UCS_ERR_IO_ERROR);
    CHECK(in.finish(writing) == UCS_OK);
    CHECK(datatype.finished == 1);
    datatype.fails_from = ~std::size_t{0};
    const auto more = pattern(20 * sparse::width, 8);
    CHECK(in.finish(in.write(more)) == UCS_OK);
    reading next(in, datatype, 20, true);
    CHECK(next.end(in) == UCS_OK);
    CHECK(next.memory == sparse::holding(more, std::byte{0x5a}));
}

TEST_CASE("a send whose packing gives nothing ends with an error, and the stream still works") {
    const pair in;
    sparse datatype;
    datatype.pack_limit = 0;
    const std::size_t count = GENERATE(as<std::size_t>(), 1, 40'000);
    const auto memory = sparse::memory(count, std::byte{1});
    CHECK(in.finish(write(in, datatype, memory)) == UCS_ERR_INVALID_PARAM);
    CHECK(datatype.finished == 1);
    const auto bytes = pattern(1000, 9);
    CHECK(in.finish(in.write(bytes)) == UCS_OK);
    std::vector<std::byte> got;
    REQUIRE(in.progress_until([&] {
        const auto some = in.read_some(100);
        got.insert(got.end(), some.begin(), some.end());
        return got.size() == bytes.size();
    }));
    CHECK(got == bytes);
}
