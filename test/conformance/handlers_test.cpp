// Conformance: sending from handlers, setting and removing them.
#include "test/conformance/support/suite.hpp"
#include "test/support/log_capture.hpp"

namespace conformance {

CONFORMANCE_CASE(ping_pong, "handlers may send, and no handler runs inside a send",
                 needs::messages) {
    const auto there = a.connect(b);
    const auto back = b.connect(a);
    constexpr std::uint32_t rounds = 200;
    // Replies that found no resource are sent by the loop below.
    struct owed {
        side* from;
        uct::ep* via;
        tag reply;
    };
    std::vector<owed> answers;
    std::uint32_t last = 0;
    bool sending = false;
    const auto answer = [&](side& from, uct::ep& via, tag reply) {
        sending = true;
        const uct::op which = ops[reply.number % ops.size()];
        if (out.try_send(from, via, which, 1, make_message(reply, 16)) != UCS_OK) {
            answers.push_back({&from, &via, reply});
        }
        sending = false;
    };
    const auto on_message = [&](const received& message) {
        CHECK_FALSE(sending);
        const tag id = tag_of(message.data);
        last = std::max(last, id.number);
        if (id.number >= rounds) return;
        if (id.stream == 1) answer(b, *back, {2, id.number + 1});
        if (id.stream == 2) answer(a, *there, {1, id.number + 1});
    };
    a.on_message = on_message;
    if (&a != &b) b.on_message = on_message;
    REQUIRE(out.send(a, *there, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] {
        const auto now = std::exchange(answers, {});
        for (const owed& each : now)
            answer(*each.from, *each.via, each.reply);
        return last >= rounds && out.all_ended();
    }));
    CHECK(a.inbox.size() + (&a == &b ? 0 : b.inbox.size()) == rounds + 1);
}

CONFORMANCE_CASE(one_to_ten, "a handler may send many messages", needs::messages) {
    const auto there = a.connect(b);
    const auto back = b.connect(a);
    std::uint32_t accepted = 0;
    b.on_message = [&](const received& message) {
        if (tag_of(message.data).stream != 1) return;
        for (std::uint32_t i = 0; i < 10; ++i) {
            if (out.try_send(b, *back, ops.front(), 2, make_message({2, accepted}, 16)) == UCS_OK) {
                ++accepted;
            }
        }
    };
    for (std::uint32_t i = 0; i < 10; ++i)
        REQUIRE(out.send(a, *there, ops.front(), 1, make_message({1, i}, 16)));
    REQUIRE(net.run_until([&] { return b.count(1) == 10 && a.count(2) == accepted; }));
    b.on_message = nullptr;
}

CONFORMANCE_CASE(unset_ids, "messages for ids without handler are dropped with a log line",
                 needs::messages) {
    const auto via = a.connect(b);
    test::log_capture log;
    for (const uct::op which : ops) {
        for (const uct::am_id id : {uct::am_id{10}, uct::am_id{uct::am_id_count - 1}})
            REQUIRE(out.send(a, *via, which, id, make_message({9, id}, 40)));
    }
    REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 1 && out.all_ended(); }));
    CHECK(tag_of(b.inbox.front().data) == tag{1, 0});
    CHECK(log.count("without handler") > 0);
}

CONFORMANCE_CASE(set_and_unset, "a handler takes the messages that arrive while it is set",
                 needs::messages) {
    const auto via = a.connect(b);
    test::log_capture log;
    const uct::am_id id = 20;
    unsigned first = 0;
    unsigned second = 0;
    const auto count = [](void* arg, void*, std::size_t) { ++*static_cast<unsigned*>(arg); };
    const auto fence = [&](std::uint32_t number) {
        REQUIRE(out.send(a, *via, ops.front(), id, make_message({3, number}, 16)));
        REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, number}, 16)));
        REQUIRE(net.run_until([&] { return b.inbox.size() == number + 1; }));
    };
    b.iface().set_am_handler(id, {.deliver = count, .arg = &first});
    fence(0);
    b.iface().set_am_handler(id, {.deliver = count, .arg = &second});
    fence(1);
    b.iface().set_am_handler(id, {});
    fence(2);
    CHECK(first == 1);
    CHECK(second == 1);
}

CONFORMANCE_CASE(handler_replaces_itself, "a handler may replace itself", needs::messages) {
    struct state {
        side* receiver;
        unsigned once = 0;
    } context{&b};
    const auto via = a.connect(b);
    const uct::am_id id = 2;
    b.iface().set_am_handler(id, {.deliver =
                                      [](void* arg, void*, std::size_t) {
                                          auto& self = *static_cast<state*>(arg);
                                          ++self.once;
                                          self.receiver->record(2);
                                      },
                                  .arg = &context});
    for (std::uint32_t i = 0; i < 3; ++i)
        REQUIRE(out.send(a, *via, ops.front(), id, make_message({1, i}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 2; }));
    CHECK(context.once == 1);
}

}  // namespace conformance
