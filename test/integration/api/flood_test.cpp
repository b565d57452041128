// Senders that flood a receiver which posts no receives.
#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

constexpr std::size_t limit = 1 << 20;
constexpr std::size_t window = 256 << 10;
const settings bounded{{"UNEXPECTED_LIMIT", "1m"}, {"UNEXPECTED_WINDOW", "256k"}};
// Memory of a message besides its data. The message that exceeds the window is still sent.
constexpr std::size_t message_overhead = 512;

std::size_t heap_in_use() {
    const struct mallinfo2 now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
}

// Memory of a worker's messages, as its printed page reports it.
struct memory {
    std::size_t stored = 0;
    std::size_t rts = 0;
};
memory memory_of(ucp_worker_h worker) {
    const std::string page = printed([&](FILE* to) { ucp_worker_print_info(worker, to); });
    const std::size_t position = page.find("memory for them:");
    REQUIRE(position != std::string::npos);
    memory reported;
    REQUIRE(std::sscanf(page.c_str() + position, "memory for them: %zu bytes, and %zu",
                        &reported.stored, &reported.rts) == 2);
    return reported;
}

std::size_t deferred_of(ucp_worker_h worker) {
    const std::string page = printed([&](FILE* to) { ucp_worker_print_info(worker, to); });
    const std::size_t position = page.find("sends deferred:");
    REQUIRE(position != std::string::npos);
    std::size_t count = 0;
    REQUIRE(std::sscanf(page.c_str() + position, "sends deferred: %zu", &count) == 1);
    return count;
}

// Sends that were started. Incomplete sends are kept.
struct sending {
    const world& in;
    std::vector<ucs_status_ptr_t> waiting;
    std::size_t ended = 0;

    void send(ucp_ep_h to, const std::vector<std::byte>& data, ucp_tag_t tag) {
        const ucs_status_ptr_t one = ucp_tag_send_nbx(to, data.data(), data.size(), tag, &none);
        REQUIRE(!UCS_PTR_IS_ERR(one));
        if (one == nullptr) {
            ++ended;
        } else {
            waiting.push_back(one);
        }
    }
    // Waits for all sends. Returns the number of successful sends.
    std::size_t finish() {
        for (ucs_status_ptr_t each : waiting)
            ended += in.finish(each) == UCS_OK ? 1U : 0U;
        waiting.clear();
        return ended;
    }
};

void receive_all(const world& in, std::size_t count, std::size_t length) {
    std::vector<std::byte> into(length);
    for (std::size_t i = 0; i < count; ++i)
        REQUIRE(in.recv(into.data(), length, 5).length == length);
}

bool is_ready(ucp_ep_h ep) {
    return printed([&](FILE* to) { ucp_ep_print_info(ep, to); }).find("state: ready") !=
           std::string::npos;
}

bool has_no_endpoint(ucp_worker_h worker) {
    return printed([&](FILE* to) { ucp_worker_print_info(worker, to); }).find("endpoints: 0\n") !=
           std::string::npos;
}

// A world with more senders, whose workers make progress with it.
class crowd : public world {
public:
    using world::world;
    ~crowd() {
        for (ucp_worker_h each : others)
            ucp_worker_destroy(each);
    }
    unsigned progress() const override {
        unsigned events = world::progress();
        for (ucp_worker_h each : others)
            events += ucp_worker_progress(each);
        return events;
    }
    ucp_worker_h add_sender() {
        others.push_back(make_worker(context));
        return others.back();
    }

    std::vector<ucp_worker_h> others;
};

}  // namespace

TEST_CASE("a flood stays within the receiver's limit, and every message arrives in order") {
    settings config = bounded;
    config.emplace_back("RNDV_THRESH", GENERATE("inf", "auto"));
    const world in(configured(config));
    constexpr std::size_t length = 20'000;
    constexpr std::size_t count = 3'000;  // 60 MB
    const bool sync = GENERATE(false, true);
    const auto data = pattern(length, 4);
    std::vector<ucs_status_ptr_t> sending;
    sending.reserve(count);
    const std::size_t before = heap_in_use();
    for (std::size_t i = 0; i < count; ++i) {
        sending.push_back(sync ? ucp_tag_send_sync_nbx(in.ep, data.data(), length, i, &none)
                               : ucp_tag_send_nbx(in.ep, data.data(), length, i, &none));
        in.progress();
    }
    in.progress_often(10'000);
    const std::size_t now = heap_in_use();
    const memory reported = memory_of(in.receiver);
    CHECK(reported.stored <= limit + window + length + message_overhead);
    CHECK(reported.rts <= count * message_overhead);
    // The reported memory is the memory in use, except for the sender's requests.
    CHECK(now < before + reported.stored + reported.rts + count * 1024);
    // Rendezvous messages are received before stored messages: any order works.
    std::vector<std::byte> into(length);
    const auto receive = [&](ucp_tag_t tag, ucp_tag_t mask) {
        outcome got;
        const params options = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        CHECK(in.finish(ucp_tag_recv_nbx(in.receiver, into.data(), length, tag, mask, &options)) ==
              UCS_OK);
        CHECK(into == data);
        return got.info.sender_tag;
    };
    CHECK(receive(count - 1, all_bits) == count - 1);
    for (std::size_t i = 0; i + 1 < count; ++i)
        REQUIRE(receive(0, 0) == i);
    for (ucs_status_ptr_t each : sending)
        REQUIRE(in.finish(each) == UCS_OK);
    CHECK(memory_of(in.receiver).stored == 0);
    CHECK(memory_of(in.receiver).rts == 0);
    // Sends are fast again: small messages complete within their call.
    std::size_t immediate = 0;
    for (int i = 0; i < 100; ++i) {
        const ucs_status_ptr_t small = ucp_tag_send_nbx(in.ep, data.data(), 8, 7, &none);
        immediate += small == nullptr ? 1U : 0U;
        CHECK(in.finish(small) == UCS_OK);
        (void)in.recv(into.data(), 8, 7);
    }
    CHECK(immediate > 50);
}

TEST_CASE(
    "a flood of tiny or empty messages without any progress of the sender is limited as well") {
    const world in(configured(bounded));
    constexpr int count = 20'000;
    const std::vector<std::byte> data(GENERATE(std::size_t{0}, std::size_t{8}));
    sending all{in, {}};
    for (int i = 0; i < count; ++i) {
        all.send(in.ep, data, 5);
        if (i % 64 == 0) ucp_worker_progress(in.receiver);
    }
    in.progress_often(10'000);
    CHECK(memory_of(in.receiver).stored <= limit + window + message_overhead);
    const auto waits = [](ucs_status_ptr_t each) {
        return ucp_request_check_status(each) == UCS_INPROGRESS;
    };
    CHECK(std::count_if(all.waiting.begin(), all.waiting.end(), waits) > count / 2);
    receive_all(in, count, data.size());
    CHECK(all.finish() == count);
}

TEST_CASE("each sender adds at most one window, with any number of endpoints") {
    crowd in(configured(bounded));
    constexpr std::size_t count = 8'000;
    const std::vector<std::byte> data(100);
    const bool other_workers = GENERATE(false, true) && !in.loopback();
    std::vector<ucp_ep_h> from{in.ep};
    while (from.size() < 4)
        from.push_back(make_ep(other_workers ? in.add_sender() : in.sender, in.receiver));
    sending all{in, {}};
    for (std::size_t i = 0; i < count; ++i) {
        all.send(from[i % from.size()], data, 5);
        in.progress();
    }
    const std::size_t senders = in.others.size() + 1;
    CHECK(memory_of(in.receiver).stored <= limit + senders * (window + message_overhead));
    receive_all(in, count, data.size());
    CHECK(all.finish() == count);
    if (!other_workers) {
        for (std::size_t i = 1; i < from.size(); ++i)
            in.close(from[i]);
    }
}

TEST_CASE("RTS messages stay within a limit for each sender, and all messages arrive in order") {
    constexpr std::size_t rts_limit = 50;
    constexpr std::size_t count = 1'000;
    crowd in(configured(
        {{"UNEXPECTED_ANNOUNCEMENTS", std::to_string(rts_limit)}, {"RNDV_THRESH", "1000"}}));
    const bool probes = GENERATE(false, true);
    // One sender has two endpoints. Every third message is small. The tag contains the index of the
    // endpoint and the number of the message.
    std::vector<ucp_ep_h> from{in.ep, make_ep(in.sender, in.receiver)};
    if (!in.loopback()) from.push_back(make_ep(in.add_sender(), in.receiver));
    const std::size_t senders = in.others.size() + 1;
    const std::vector<std::byte> data(3'000);
    std::vector<ucs_status_ptr_t> started;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t endpoint_index = 0; endpoint_index < from.size(); ++endpoint_index) {
            const std::size_t length = i % 3 == 2 ? 8 : data.size();
            started.push_back(ucp_tag_send_nbx(from[endpoint_index], data.data(), length,
                                               endpoint_index << 32 | i, &none));
            REQUIRE(!UCS_PTR_IS_ERR(started.back()));
        }
        in.progress();
    }
    in.progress_often(10'000);
    CHECK(memory_of(in.receiver).rts == senders * rts_limit * 384);
    CHECK(deferred_of(in.sender) > count);

    std::vector<std::byte> into(data.size());
    const auto receive = [&](ucp_tag_t tag, ucp_tag_t mask) {
        outcome got;
        const params options = params().on_recv(got).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        REQUIRE(in.finish(ucp_tag_recv_nbx(in.receiver, into.data(), into.size(), tag, mask,
                                           &options)) == UCS_OK);
        return got.info.sender_tag;
    };
    // The last message is received first: a probe finds it, or a receive waits for it.
    const ucp_tag_t last = (from.size() - 1) << 32 | (count - 1);
    ucp_tag_recv_info_t info;
    REQUIRE((!probes || in.progress_until([&] {
        return ucp_tag_probe_nb(in.receiver, last, all_bits, 0, &info) != nullptr;
    })));
    CHECK(receive(last, all_bits) == last);
    std::vector<std::size_t> next(from.size());
    for (std::size_t i = 0; i + 1 < count * from.size(); ++i) {
        const ucp_tag_t tag = receive(0, 0);
        const std::size_t endpoint_index = tag >> 32;
        REQUIRE(endpoint_index < from.size());
        REQUIRE((tag & 0xffffffff) == next[endpoint_index]++);
    }
    for (ucs_status_ptr_t each : started)
        REQUIRE(in.finish(each) == UCS_OK);
    CHECK(memory_of(in.receiver).rts == 0);
    CHECK(deferred_of(in.sender) == 0);
    in.close(from[1]);
}

TEST_CASE("a sender that closes and reopens its endpoint has no new window") {
    settings config = bounded;
    config.emplace_back("RNDV_THRESH", "inf");  // RTS messages do not use the window
    world in(configured(config));
    const bool keep_first = GENERATE(false, true);
    if (!keep_first) {
        in.close(in.ep);
        in.ep = nullptr;
    }
    const std::vector<std::byte> data(1'000);
    std::size_t sent = 0;
    for (int round = 0; round < 20; ++round) {
        const ucp_ep_h again = make_ep(in.sender, in.receiver);
        sending all{in, {}};
        all.send(again, data, 5);
        REQUIRE(in.progress_until([&] { return is_ready(again); }));
        for (int i = 0; i < 300; ++i) {
            all.send(again, data, 5);
            in.progress();
        }
        in.close(again, true);
        sent += all.finish();
        // Nothing of the endpoint is left that the next one could find.
        REQUIRE((keep_first || in.progress_until([&] { return has_no_endpoint(in.sender); })));
        CHECK(memory_of(in.receiver).stored <= limit + window + data.size() + message_overhead);
    }
    CHECK(sent * data.size() > limit / 2);
    receive_all(in, sent, data.size());
    ucp_tag_recv_info_t info;
    for (int i = 0; i < 1'000; ++i) {
        in.progress();
        REQUIRE(ucp_tag_probe_nb(in.receiver, 0, 0, 0, &info) == nullptr);
    }
    // It may send as before.
    const ucp_ep_h last = make_ep(in.sender, in.receiver);
    sending all{in, {}};
    all.send(last, data, 5);
    receive_all(in, 1, data.size());
    CHECK(all.finish() == 1);
    in.close(last);
}
