// Conformance: endpoints are created and destroyed at any moment.
#include <malloc.h>

#include <filesystem>

#include "test/conformance/support/suite.hpp"

namespace conformance {

namespace {

std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

std::size_t heap_in_use() {
    return ::mallinfo2().uordblks;
}

}  // namespace

CONFORMANCE_CASE(destroyed_in_flight,
                 "messages of a destroyed endpoint arrive, or the peer is notified",
                 needs::messages) {
    auto via = a.connect(b);
    const auto back = b.connect(a);
    REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(out.send(b, *back, ops.front(), 1, make_message({2, 0}, 16)));
    REQUIRE(net.run_until([&] { return out.all_ended(); }));
    std::uint32_t sent = 1;
    for (std::uint32_t i = 0; i < 100; ++i) {
        const uct::op which = ops[i % ops.size()];
        const std::size_t size = std::min<std::size_t>(lengths(a.attr(), which).max, 3000);
        if (out.try_send(a, *via, which, 1, make_message({1, sent}, size)) == UCS_OK) ++sent;
    }
    via.reset();
    // The caller may reuse its memory at once.
    CHECK(out.all_ended());
    CHECK(out.each_called_once());
    REQUIRE(net.run_until([&] { return b.count(1) == sent || !b.failures.empty(); }));
    std::uint32_t next = 0;
    for (const received& message : b.inbox) {
        const tag id = tag_of(message.data);
        if (id.stream != 1) continue;
        CHECK(message.data == make_message(id, message.data.size()));
        CHECK(id.number == next++);
    }
    CHECK(a.failures.empty());
}

CONFORMANCE_CASE(destroyed_in_handler, "an endpoint may be destroyed by a message handler",
                 needs::messages) {
    const auto via = a.connect(b);
    auto doomed = b.connect(a);
    constexpr std::uint32_t count = 20;
    b.on_message = [&](const received& message) {
        if (tag_of(message.data) == tag{1, 5}) doomed.reset();
    };
    for (std::uint32_t i = 0; i < count; ++i) {
        if (doomed) {
            static_cast<void>(out.try_send(b, *doomed, ops.front(), 1, make_message({2, i}, 16)));
        }
        REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, i}, 16)));
    }
    REQUIRE(net.run_until([&] { return b.count(1) == count; }));
    CHECK(doomed == nullptr);
    b.on_message = nullptr;
    net.settle();
}

CONFORMANCE_CASE(created_in_handler, "an endpoint may be created and used by a message handler",
                 needs::messages) {
    const auto via = a.connect(b);
    std::unique_ptr<uct::ep> answer;
    bool answered = false;
    const bytes reply = make_message({2, 0}, 16);
    b.on_message = [&](const received& message) {
        if (tag_of(message.data).stream != 1) return;
        answer = b.connect(a);
        answered = out.try_send(b, *answer, ops.front(), 1, reply) == UCS_OK;
    };
    REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return answer != nullptr; }));
    b.on_message = nullptr;
    if (!answered) REQUIRE(out.send(b, *answer, ops.front(), 1, reply));
    REQUIRE(net.run_until([&] {
        return !a.inbox.empty() && tag_of(a.inbox.back().data) == tag{2, 0};
    }));
    answer.reset();
}

CONFORMANCE_CASE(last_message_destroys, "an endpoint may be destroyed by the reply to its message",
                 needs::messages) {
    for (std::uint32_t round = 0; round < 10; ++round) {
        auto via = a.connect(b);
        auto back = b.connect(a);
        a.on_message = [&](const received& message) {
            if (tag_of(message.data).stream == 2) via.reset();
        };
        REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, round}, 16)));
        REQUIRE(out.send(b, *back, ops.back(), 1, make_message({2, round}, 16)));
        REQUIRE(net.run_until([&] { return via == nullptr; }));
        a.on_message = nullptr;
    }
    net.settle();
}

CONFORMANCE_CASE(no_leak, "creating and destroying 1000 endpoints leaves nothing behind",
                 needs::nothing) {
    const auto cycle = [&](std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = first; i < first + count; ++i) {
            sender one(net);
            const auto via = a.connect(b);
            if (i % 10 != 0 || ops.empty()) continue;
            b.inbox.clear();
            REQUIRE(one.send(a, *via, ops.front(), 1, make_message({1, i}, 16)));
            REQUIRE(net.run_until([&] { return b.inbox.size() == 1; }));
        }
        net.settle();
    };
    cycle(0, 100);
    const std::size_t descriptors = open_descriptors();
    const std::size_t heap = heap_in_use();
    cycle(100, 1000);
    REQUIRE(net.run_until([&] { return open_descriptors() <= descriptors; }));
    // Less than 132 bytes per endpoint; some buffers of a connection that was just closed may
    // remain.
    constexpr std::size_t slack = 132'000;
    REQUIRE(net.run_until([&] { return heap_in_use() <= heap + slack; }));
}

CONFORMANCE_CASE(idle_many, "many endpoints may exist and be used in turn", needs::messages) {
    std::vector<std::unique_ptr<uct::ep>> eps;
    constexpr std::uint32_t count = 64;
    for (std::uint32_t i = 0; i < count; ++i)
        eps.push_back(a.connect(b));
    for (std::uint32_t i = 0; i < count; ++i)
        REQUIRE(out.send(a, *eps[i], ops.front(), 1, make_message({i, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == count; }));
    std::vector<bool> seen(count);
    for (const received& message : b.inbox)
        seen.at(tag_of(message.data).stream) = true;
    CHECK(std::count(seen.begin(), seen.end(), true) == count);
    // Not in the order of creation.
    for (std::uint32_t i = 0; i < count; i += 2)
        eps[i].reset();
    eps.clear();
    net.settle();
}

}  // namespace conformance
