// Senders that flood a receiver which posts no receives.
#include <malloc.h>

#include <catch2/catch.hpp>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

constexpr ucp_tag_t every_bit = ~ucp_tag_t{0};

std::size_t heap_in_use() {
    const struct mallinfo2 now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
}

}  // namespace

TEST_CASE("a flood stays within the receiver's limit, and every message arrives in order") {
    const world in(configured({{"UNEXPECTED_LIMIT", "1m"},
                               {"UNEXPECTED_WINDOW", "256k"},
                               {"RNDV_THRESH", GENERATE("inf", "auto")}}));
    constexpr std::size_t length = 20'000;
    constexpr std::size_t count = 3'000;  // 60 MB
    const bool sync = GENERATE(false, true);
    const auto data = pattern(length, 4);
    const params none;
    std::vector<ucs_status_ptr_t> sending;
    sending.reserve(count);
    const std::size_t before = heap_in_use();
    for (std::size_t i = 0; i < count; ++i) {
        sending.push_back(sync ? ucp_tag_send_sync_nbx(in.ep, data.data(), length, i, &none)
                               : ucp_tag_send_nbx(in.ep, data.data(), length, i, &none));
        in.progress();
    }
    for (int i = 0; i < 10'000; ++i)
        in.progress();
    const std::size_t now = heap_in_use();
    // Limit, window, and a few hundred bytes of each announcement and request.
    CHECK(now < before + (std::size_t{6} << 20));
    // Those announced are received before those stored: any order works.
    std::vector<std::byte> into(length);
    const auto receive = [&](ucp_tag_t tag, ucp_tag_t mask) {
        outcome got;
        const params how = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        CHECK(in.finish(ucp_tag_recv_nbx(in.receiver, into.data(), length, tag, mask, &how)) ==
              UCS_OK);
        CHECK(into == data);
        return got.info.sender_tag;
    };
    CHECK(receive(count - 1, every_bit) == count - 1);
    for (std::size_t i = 0; i + 1 < count; ++i)
        REQUIRE(receive(0, 0) == i);
    for (ucs_status_ptr_t each : sending)
        REQUIRE(in.finish(each) == UCS_OK);
    // And it is fast again: small messages complete within their call.
    std::size_t at_once = 0;
    for (int i = 0; i < 100; ++i) {
        const ucs_status_ptr_t small = ucp_tag_send_nbx(in.ep, data.data(), 8, 7, &none);
        at_once += small == nullptr ? 1U : 0U;
        CHECK(in.finish(small) == UCS_OK);
        (void)in.recv(into.data(), 8, 7);
    }
    CHECK(at_once > 50);
}

TEST_CASE("a flood of tiny messages without any progress of the sender is held as well") {
    const world in(configured({{"UNEXPECTED_LIMIT", "1m"}, {"UNEXPECTED_WINDOW", "256k"}}));
    constexpr std::size_t count = 50'000;
    const std::uint64_t word = 42;
    const params none;
    std::vector<ucs_status_ptr_t> sending;
    for (std::size_t i = 0; i < count; ++i) {
        sending.push_back(ucp_tag_send_nbx(in.ep, &word, sizeof word, 5, &none));
        if (i % 64 == 0) ucp_worker_progress(in.receiver);
    }
    std::uint64_t got = 0;
    for (std::size_t i = 0; i < count; ++i) {
        CHECK(in.recv(&got, sizeof got, 5).length == sizeof got);
        REQUIRE(got == word);
        got = 0;
    }
    for (ucs_status_ptr_t each : sending)
        REQUIRE(in.finish(each) == UCS_OK);
}
