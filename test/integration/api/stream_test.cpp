// Byte streams: order, granularity, windows, and the functions that take bytes.
#include <cstring>
#include <deque>

#include "test/integration/api/streams.hpp"

using namespace api;

namespace {

struct receive {
    outcome done;
    std::vector<std::byte> data;
    std::size_t length = 0;
    ucs_status_ptr_t running = nullptr;

    receive(const pair& in, std::size_t count, bool wait_all,
            ucp_datatype_t type = ucp_dt_make_contig(1)) {
        data.resize(count * (type >> UCP_DATATYPE_SHIFT));
        params options =
            params().type(type).on_send(done).flags_of_call(UCP_STREAM_RECV_FLAG_WAITALL, wait_all);
        options.cb.recv_stream = record_stream;
        running = ucp_stream_recv_nbx(in.back, data.data(), count, &length, &options);
    }
    ~receive() {
        if (UCS_PTR_IS_PTR(running)) ucp_request_free(running);
    }
    receive(const receive&) = delete;
    receive& operator=(const receive&) = delete;
    [[nodiscard]] bool is_done() const { return !UCS_PTR_IS_PTR(running) || done.calls == 1; }
    [[nodiscard]] std::size_t got() const {
        return UCS_PTR_IS_PTR(running) ? done.info.length : length;
    }
};

}  // namespace

TEST_CASE("a stream arrives complete and in order, with any division on both sides") {
    const settings config = GENERATE(settings{}, settings{{"ZCOPY_THRESH", "0"}},
                                     settings{{"STREAM_WINDOW", "256k"}, {"BCOPY_THRESH", "0"}});
    const pair in(for_streams(config));
    const auto all = pattern(3'000'000, 5);
    std::deque<std::vector<std::byte>> pieces;
    std::deque<ucs_status_ptr_t> running;
    std::size_t sent = 0;
    std::size_t step = 1;
    std::vector<std::byte> got;
    while (got.size() < all.size()) {
        if (sent < all.size()) {
            const std::size_t part = std::min(step, all.size() - sent);
            step = step * 3 % 700'001 + 1;
            const auto from = all.begin() + static_cast<std::ptrdiff_t>(sent);
            pieces.emplace_back(from, from + static_cast<std::ptrdiff_t>(part));
            running.push_back(in.write(pieces.back()));
            sent += part;
        }
        in.progress();
        const auto part = in.read_some(got.size() % 100'000 + 17);
        got.insert(got.end(), part.begin(), part.end());
    }
    CHECK(got == all);
    for (ucs_status_ptr_t each : running)
        CHECK(in.finish(each) == UCS_OK);
    CHECK(in.read_some(10).empty());
}

TEST_CASE("bytes fill receives that were posted before, in their order") {
    const pair in;
    const std::size_t length = GENERATE(as<std::size_t>(), 1, 100, 20'000, 400'000);
    const auto all = pattern(4 * length, 6);
    std::deque<receive> posted;
    for (int i = 0; i < 4; ++i)
        posted.emplace_back(in, length, true);
    const ucs_status_ptr_t writing = in.write(all);
    REQUIRE(in.progress_until([&] { return posted.back().is_done(); }));
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(posted[i].is_done());
        CHECK(posted[i].got() == length);
        CHECK(posted[i].done.status == UCS_OK);
        CHECK(std::memcmp(posted[i].data.data(), all.data() + i * length, length) == 0);
    }
    CHECK(in.finish(writing) == UCS_OK);
}

TEST_CASE("a receive ends with the available whole elements; WAITALL fills it") {
    const pair in;
    receive plain(in, 100, false, ucp_dt_make_contig(8));
    CHECK(!plain.is_done());
    CHECK(in.finish(in.write(pattern(13, 1))) == UCS_OK);
    in.progress_often(1000);
    CHECK(!plain.is_done());  // one element and a half
    std::size_t unused = 0;
    CHECK(ucp_stream_recv_request_test(plain.running, &unused) == UCS_INPROGRESS);
    CHECK(in.finish(in.write(pattern(3, 2))) == UCS_OK);
    REQUIRE(in.progress_until([&] { return plain.is_done(); }));
    CHECK(plain.got() == 16);
    std::size_t length = 0;
    CHECK(ucp_stream_recv_request_test(plain.running, &length) == UCS_OK);
    CHECK(length == 16);
    receive full(in, 20, true);
    CHECK(in.finish(in.write(pattern(19, 3))) == UCS_OK);
    in.progress_often(1000);
    CHECK(!full.is_done());
    CHECK(in.finish(in.write(pattern(2, 4))) == UCS_OK);
    REQUIRE(in.progress_until([&] { return full.is_done(); }));
    CHECK(full.got() == 20);
    REQUIRE(in.progress_until([&] { return in.read_some(5).size() == 1; }));
}

TEST_CASE("iov and the older functions work on streams") {
    const pair in;
    auto bytes = pattern(30'000, 7);
    ucp_dt_iov_t pieces[] = {{bytes.data(), 10'000}, {bytes.data() + 10'000, 20'000}};
    const ucs_status_ptr_t writing = ucp_stream_send_nb(
        in.ep, pieces, 2, ucp_dt_make_iov(), [](void*, ucs_status_t) {}, 0);
    std::vector<std::byte> into(bytes.size());
    ucp_dt_iov_t targets[] = {{into.data(), 29'000}, {into.data() + 29'000, 1'000}};
    std::size_t length = 0;
    const ucs_status_ptr_t reading = ucp_stream_recv_nb(
        in.back, targets, 2, ucp_dt_make_iov(), [](void*, ucs_status_t, std::size_t) {}, &length,
        UCP_STREAM_RECV_FLAG_WAITALL);
    CHECK(in.finish(reading) == UCS_OK);
    CHECK(in.finish(writing) == UCS_OK);
    CHECK(into == bytes);
}

TEST_CASE("bytes are handed out without a copy, and endpoints with bytes are listed") {
    const pair in;
    ucp_stream_poll_ep_t ready[4];
    CHECK(ucp_stream_worker_poll(in.receiver, ready, 4, 0) == 0);
    std::size_t length = 0;
    CHECK(ucp_stream_recv_data_nb(in.back, &length) == nullptr);
    const auto bytes = pattern(50'000, 8);
    const ucs_status_ptr_t writing = in.write(bytes);
    REQUIRE(
        in.progress_until([&] { return ucp_stream_worker_poll(in.receiver, ready, 4, 0) == 1; }));
    CHECK(ready[0].ep == in.back);
    CHECK(in.finish(writing) == UCS_OK);
    // A part is read first, so that the returned data begins in the middle of a message.
    std::vector<std::byte> got = in.read_some(3);
    REQUIRE(got.size() == 3);
    std::vector<void*> handed_out;
    while (got.size() < bytes.size()) {
        in.progress();
        void* const data = ucp_stream_recv_data_nb(in.back, &length);
        REQUIRE(!UCS_PTR_IS_ERR(data));
        if (data == nullptr) continue;
        const auto* from = static_cast<const std::byte*>(data);
        got.insert(got.end(), from, from + length);
        handed_out.push_back(data);
    }
    CHECK(got == bytes);
    CHECK(ucp_stream_worker_poll(in.receiver, ready, 4, 0) == 0);
    for (void* each : handed_out)
        ucp_stream_data_release(in.back, each);
    CHECK(ucp_stream_worker_poll(in.receiver, ready, 4, 1) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("bytes for a waiting receive do not list the endpoint") {
    const pair in;
    std::vector<std::byte> into(100);
    std::size_t length = 0;
    const ucs_status_ptr_t reading =
        ucp_stream_recv_nbx(in.back, into.data(), into.size(), &length, &none);
    REQUIRE(UCS_PTR_IS_PTR(reading));
    const auto bytes = pattern(into.size(), 9);
    CHECK(in.finish(in.write(bytes)) == UCS_OK);
    CHECK(in.finish(reading) == UCS_OK);
    CHECK(into == bytes);
    ucp_stream_poll_ep_t ready;
    CHECK(ucp_stream_worker_poll(in.receiver, &ready, 1, 0) == 0);
}

TEST_CASE("a sender waits if the receiver does not read, and resumes when it reads") {
    const pair in(for_streams({{"STREAM_WINDOW", "256k"}}));
    constexpr std::size_t window = 256 * 1024;
    const auto part = pattern(100'000, 9);
    std::vector<ucs_status_ptr_t> writing;
    constexpr std::size_t count = 40;
    for (std::size_t i = 0; i < count; ++i)
        writing.push_back(in.write(part));
    in.progress_often(20'000);
    std::size_t done = 0;
    for (ucs_status_ptr_t each : writing)
        done += UCS_PTR_IS_PTR(each) && ucp_request_check_status(each) == UCS_INPROGRESS ? 0U : 1U;
    CHECK(done <= window / part.size() + 1);
    std::size_t got = 0;
    REQUIRE(in.progress_until([&] {
        const auto piece = in.read_some(77'777);
        for (std::size_t i = 0; i < piece.size(); ++i) {
            if (piece[i] != part[(got + i) % part.size()]) FAIL("byte " << got + i << " is wrong");
        }
        got += piece.size();
        return got == count * part.size();
    }));
    for (ucs_status_ptr_t each : writing)
        CHECK(in.finish(each) == UCS_OK);
}

TEST_CASE("sends that wait for the window and for the transport in turn stay in order") {
    const pair in;
    constexpr std::size_t length = 100'000;
    constexpr std::size_t count = 200;
    constexpr std::size_t in_flight = 8;
    const auto all = pattern(count * length, 11);
    std::deque<ucs_status_ptr_t> writing;
    std::deque<receive> reading;
    std::size_t checked = 0;
    const auto finish_write = [&] {
        CHECK(in.finish(writing.front()) == UCS_OK);
        writing.pop_front();
    };
    const auto check_read = [&] {
        REQUIRE(in.progress_until([&] { return reading.front().is_done(); }));
        REQUIRE(std::memcmp(reading.front().data.data(), all.data() + checked * length, length) ==
                0);
        reading.pop_front();
        ++checked;
    };
    for (std::size_t sent = 0; sent < count; ++sent) {
        if (writing.size() == in_flight) finish_write();
        writing.push_back(ucp_stream_send_nbx(in.ep, all.data() + sent * length, length, &none));
        if (reading.size() == in_flight) check_read();
        reading.emplace_back(in, length, true);
    }
    while (!writing.empty())
        finish_write();
    while (!reading.empty())
        check_read();
    CHECK(checked == count);
}

TEST_CASE("receives end when the peer closes; earlier bytes can still be read") {
    pair in;
    if (in.loopback()) return;
    CHECK(in.finish(in.write(pattern(10, 1))) == UCS_OK);
    REQUIRE(in.progress_until([&] { return in.read_some(4).size() == 4; }));
    in.close(in.ep);
    in.ep = nullptr;
    in.progress_often(10'000);
    CHECK(in.read_some(6).size() == 6);
    std::size_t length = 1;
    char byte;
    CHECK(UCS_PTR_STATUS(ucp_stream_recv_nbx(in.back, &byte, 1, &length, &none)) ==
          UCS_ERR_CONNECTION_RESET);
    CHECK(UCS_PTR_STATUS(ucp_stream_recv_data_nb(in.back, &length)) == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE(
    "a waiting receive ends when the peer closes, and a blocked send when its endpoint closes") {
    pair in(for_streams({{"STREAM_WINDOW", "256k"}}));
    if (in.loopback()) return;
    const auto much = pattern(1'000'000, 3);
    const ucs_status_ptr_t writing = in.write(much);
    REQUIRE(UCS_PTR_IS_PTR(writing));
    in.progress_often(10'000);
    in.close(in.ep, true);
    in.ep = nullptr;
    CHECK(in.finish(writing) == UCS_ERR_CANCELED);
    REQUIRE(in.progress_until([&] { return in.read_some(100'000).empty(); }));
    receive waiting(in, 10, false);
    REQUIRE(in.progress_until([&] { return waiting.is_done(); }));
    const ucs_status_t status =
        UCS_PTR_IS_PTR(waiting.running) ? waiting.done.status : UCS_PTR_STATUS(waiting.running);
    CHECK(status == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("two endpoints that close do not wait for each other to read") {
    pair in;
    const auto much = pattern(1'000'000, 4);
    const ucs_status_ptr_t forward = in.write(much);
    REQUIRE(UCS_PTR_IS_PTR(forward));
    if (in.loopback()) {
        in.close(in.ep);
        in.ep = in.back = nullptr;
        CHECK(in.finish(forward) == UCS_ERR_CONNECTION_RESET);
        return;
    }
    const ucs_status_ptr_t back = ucp_stream_send_nbx(in.back, much.data(), much.size(), &none);
    REQUIRE(UCS_PTR_IS_PTR(back));
    in.progress_often(10'000);
    const ucs_status_ptr_t first = ucp_ep_close_nbx(in.ep, &none);
    const ucs_status_ptr_t second = ucp_ep_close_nbx(in.back, &none);
    in.ep = in.back = nullptr;
    CHECK(in.finish(first) == UCS_OK);
    CHECK(in.finish(second) == UCS_OK);
    CHECK(in.finish(forward) == UCS_ERR_CONNECTION_RESET);
    CHECK(in.finish(back) == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("invalid parameters of streams are refused") {
    const pair in;
    captured_output output;
    char byte = 0;
    std::size_t length = 0;
    CHECK(UCS_PTR_RAW_STATUS(ucp_stream_send_nb(in.ep, &byte, 1, ucp_dt_make_contig(1), nullptr,
                                                1)) == UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_RAW_STATUS(ucp_stream_recv_nbx(in.back, &byte, 1, nullptr, &none)) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_RAW_STATUS(ucp_stream_recv_data_nb(in.back, nullptr)) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_stream_recv_request_test(nullptr, &length) == UCS_ERR_INVALID_PARAM);
}
