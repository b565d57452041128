// Matching: order, masks, probes, zero length, many receives.
#include <catch2/catch.hpp>
#include <cstring>

#include "test/integration/api/world.hpp"

using namespace api;

TEST_CASE("messages of one sender match in the order in which they were sent, with any size") {
    static const std::size_t sizes[] = {0, 8, 300000, 1, 20000, 64, 1 << 20, 4, 9000};
    const bool expected = GENERATE(false, true);
    CAPTURE(expected);
    world in;
    constexpr std::size_t count = 60;
    std::vector<std::vector<std::byte>> data, into(count);
    std::vector<ucs_status_ptr_t> sends, recvs;
    for (std::size_t i = 0; i < count; ++i) {
        data.push_back(pattern(sizes[i % std::size(sizes)], static_cast<unsigned>(i)));
        into[i].resize(1 << 20);
    }
    std::vector<outcome> got(count);
    const auto post = [&] {
        for (std::size_t i = 0; i < count; ++i) {
            const params options = params().on_recv(got[i]).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
            recvs.push_back(ucp_tag_recv_nbx(in.receiver, into[i].data(), into[i].size(), 1,
                                             i % 3 == 0 ? 0 : all_bits, &options));
        }
    };
    if (expected) post();
    for (const auto& each : data)
        sends.push_back(ucp_tag_send_nbx(in.ep, each.data(), each.size(), 1, &none));
    if (!expected) {
        in.await_unexpected(1);
        post();
    }
    for (const ucs_status_ptr_t each : sends)
        CHECK(in.finish(each) == UCS_OK);
    for (const ucs_status_ptr_t each : recvs)
        CHECK(in.finish(each) == UCS_OK);
    for (std::size_t i = 0; i < count; ++i) {
        CAPTURE(i);
        REQUIRE(got[i].info.length == data[i].size());
        into[i].resize(data[i].size());
        REQUIRE(into[i] == data[i]);
    }
}

TEST_CASE("a flood of small messages arrives complete and in order") {
    world in;
    constexpr std::uint32_t count = 20000;
    std::vector<ucs_status_ptr_t> sends;
    std::vector<std::uint32_t> numbers(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        numbers[i] = i;
        sends.push_back(ucp_tag_send_nbx(in.ep, &numbers[i], sizeof numbers[i], 1, &none));
    }
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t got = 0;
        in.recv(&got, sizeof got, 1);
        wrong += got != i ? 1U : 0U;
    }
    CHECK(wrong == 0);
    for (const ucs_status_ptr_t each : sends)
        CHECK(in.finish(each) == UCS_OK);
}

TEST_CASE("a message goes to the earliest posted receive whose mask it matches") {
    world in;
    std::uint32_t any = 0, exact = 0, other = 0;
    void* first = ucp_tag_recv_nbx(in.receiver, &any, 4, 0, 0, &none);
    void* second = ucp_tag_recv_nbx(in.receiver, &exact, 4, 0x10, all_bits, &none);
    void* third = ucp_tag_recv_nbx(in.receiver, &other, 4, 0x20, 0xF0, &none);
    const std::uint32_t values[] = {1, 2, 3};
    in.send(&values[0], 4, 0x10);  // the wildcard receive was posted first
    in.send(&values[1], 4, 0x2F);
    in.send(&values[2], 4, 0x10);
    CHECK(in.finish(first) == UCS_OK);
    CHECK(in.finish(second) == UCS_OK);
    CHECK(in.finish(third) == UCS_OK);
    CHECK(any == 1);
    CHECK(other == 2);
    CHECK(exact == 3);
}

TEST_CASE("unexpected messages are taken in the order of their arrival by any mask") {
    world in;
    for (std::uint32_t i = 0; i < 100; ++i)
        in.send(&i, sizeof i, 0x100 + i % 7);
    in.send("", 0, 0xE0D);
    in.await_unexpected(0xE0D);
    for (std::uint32_t i = 0; i < 100; ++i) {
        std::uint32_t got = ~0U;
        REQUIRE(in.finish(ucp_tag_recv_nbx(in.receiver, &got, 4, 0x100, 0xF00, &none)) == UCS_OK);
        REQUIRE(got == i);
    }
    in.recv(nullptr, 0, 0xE0D);
}

TEST_CASE("a probe finds a message without removing it, and removes it on request") {
    const std::size_t length = GENERATE(as<std::size_t>(), 0, 5, 20000, 1 << 20);
    const bool truncated = GENERATE(false, true);
    if (truncated && length == 0) return;
    CAPTURE(length, truncated);
    world in;
    ucp_tag_recv_info_t info{};
    CHECK(ucp_tag_probe_nb(in.receiver, 3, all_bits, 0, &info) == nullptr);
    const auto data = pattern(length, 3);
    const auto sending = ucp_tag_send_nbx(in.ep, data.data(), length, 3, &none);
    info = in.await_unexpected(3);
    CHECK(info.sender_tag == 3);
    CHECK(info.length == length);
    CHECK(ucp_tag_probe_nb(in.receiver, 4, all_bits, 1, &info) == nullptr);
    ucp_tag_message_h message = ucp_tag_probe_nb(in.receiver, 1, 1, 1, &info);
    REQUIRE(message != nullptr);
    CHECK(ucp_tag_probe_nb(in.receiver, 3, all_bits, 0, &info) == nullptr);
    const std::size_t capacity = truncated ? length / 2 : length;
    std::vector<std::byte> into(capacity);
    outcome got;
    const params options = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    const auto receiving =
        ucp_tag_msg_recv_nbx(in.receiver, into.data(), capacity, message, &options);
    const ucs_status_t status = in.finish(receiving);
    CHECK(status == (truncated ? UCS_ERR_MESSAGE_TRUNCATED : UCS_OK));
    CHECK(got.calls == 1);
    if (!truncated) CHECK(into == data);
    CHECK(in.finish(sending) == UCS_OK);
}

TEST_CASE("probing does not progress") {
    world in;
    // All previous messages have arrived.
    in.send("x", 1, 5);
    ucp_tag_recv_info_t info{};
    if (!in.loopback()) {
        for (int i = 0; i < 1000; ++i)
            REQUIRE(ucp_tag_probe_nb(in.receiver, 5, all_bits, 0, &info) == nullptr);
    }
    in.await_unexpected(5);
}

TEST_CASE("a removed message can be received while its rest is still in flight") {
    world in(configured({{"RNDV_THRESH", "inf"}}));
    const auto data = pattern(3 << 20, 4);
    const auto sending = ucp_tag_send_nbx(in.ep, data.data(), data.size(), 6, &none);
    in.await_unexpected(6);
    ucp_tag_recv_info_t info{};
    ucp_tag_message_h message = ucp_tag_probe_nb(in.receiver, 6, all_bits, 1, &info);
    REQUIRE(message != nullptr);
    in.progress_often(3);
    std::vector<std::byte> into(data.size());
    CHECK(in.finish(ucp_tag_msg_recv_nbx(in.receiver, into.data(), into.size(), message, &none)) ==
          UCS_OK);
    CHECK(in.finish(sending) == UCS_OK);
    CHECK(into == data);
}

TEST_CASE("messages of zero length are delivered") {
    const bool sync = GENERATE(false, true);
    const bool expected = GENERATE(false, true);
    world in;
    outcome got;
    const params options = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    ucs_status_ptr_t receiving = nullptr;
    if (expected) receiving = ucp_tag_recv_nbx(in.receiver, nullptr, 0, 7, all_bits, &options);
    const auto start = sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
    const auto sending = start(in.ep, nullptr, 0, 7, &none);
    if (!expected) {
        in.await_unexpected(7);
        receiving = ucp_tag_recv_nbx(in.receiver, nullptr, 0, 7, all_bits, &options);
    }
    CHECK(in.finish(receiving) == UCS_OK);
    CHECK(in.finish(sending) == UCS_OK);
    CHECK(got.info.length == 0);
    CHECK(got.info.sender_tag == 7);
}

TEST_CASE("a synchronous send completes when it is matched, not before") {
    const std::size_t length = GENERATE(as<std::size_t>(), 1, 1 << 20);
    world in;
    const auto data = pattern(length, 8);
    std::vector<std::byte> into(length);
    outcome sent;
    const params options = params().on_send(sent);
    void* sending = ucp_tag_send_sync_nbx(in.ep, data.data(), length, 8, &options);
    REQUIRE(UCS_PTR_IS_PTR(sending));
    in.await_unexpected(8);
    in.progress_often(1000);
    CHECK(sent.calls == 0);
    in.recv(into.data(), length, 8);
    CHECK(in.finish(sending) == UCS_OK);
    CHECK(sent.calls == 1);
    CHECK(into == data);
}

TEST_CASE("ten thousand receives wait at once, and each gets its own message") {
    const bool wildcards = GENERATE(false, true);
    world in;
    constexpr std::uint32_t count = 10000;
    std::vector<std::uint32_t> got(count, ~0U);
    std::vector<ucs_status_ptr_t> recvs;
    for (std::uint32_t i = 0; i < count; ++i) {
        const ucp_tag_t mask = wildcards && i % 2 == 0 ? 0xFFFF : all_bits;
        recvs.push_back(ucp_tag_recv_nbx(in.receiver, &got[i], 4, i, mask, &none));
    }
    // Every third receive is canceled.
    for (std::uint32_t i = 0; i < count; i += 3) {
        ucp_request_cancel(in.receiver, recvs[i]);
        REQUIRE(in.finish(recvs[i]) == UCS_ERR_CANCELED);
    }
    for (std::uint32_t i = count; i-- > 0;) {
        if (i % 3 != 0) in.send(&i, 4, i);
    }
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i % 3 == 0) continue;
        REQUIRE(in.finish(recvs[i]) == UCS_OK);
        wrong += got[i] != i ? 1U : 0U;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a truncated receive does not affect the following messages") {
    world in;
    char text[4] = {};
    in.send("abcd", 4, 9);
    in.send("efgh", 4, 9);
    in.await_unexpected(9);
    CHECK(in.finish(ucp_tag_recv_nbx(in.receiver, text, 2, 9, all_bits, &none)) ==
          UCS_ERR_MESSAGE_TRUNCATED);
    in.recv(text, 4, 9);
    CHECK(std::memcmp(text, "efgh", 4) == 0);
}
