// Conformance: am_handler::locate, long messages received in place.
#include "test/conformance/support/suite.hpp"

namespace conformance {

namespace {

// A handler with its own destination: space for one message, and a record of the calls.
struct landing_place {
    static constexpr std::size_t header = 16;
    bytes room;
    unsigned asked = 0;
    unsigned landed = 0;
    unsigned delivered = 0;
    unsigned drop_from = ~0U;  // number of the call from which on locate returns "drop"
    bool take = true;
    bytes first_header;
    bytes last_delivered;

    uct::am_handler handler() {
        return {.deliver = deliver,
                .landing_header = header,
                .locate = locate,
                .landed = land,
                .arg = this};
    }
    static void deliver(void* arg, void* data, std::size_t length) {
        auto& self = *static_cast<landing_place*>(arg);
        ++self.delivered;
        const auto* first = static_cast<const std::byte*>(data);
        self.last_delivered.assign(first, first + length);
    }
    static void* locate(void* arg, const void* head, std::size_t payload_length) {
        auto& self = *static_cast<landing_place*>(arg);
        const auto* first = static_cast<const std::byte*>(head);
        const bytes seen(first, first + header);
        if (self.asked == 0) {
            self.first_header = seen;
            self.room.assign(payload_length, std::byte{0});
        }
        CHECK(seen == self.first_header);
        CHECK(payload_length == self.room.size());
        const bool dropped = self.asked >= self.drop_from;
        ++self.asked;
        if (!self.take || dropped) return nullptr;
        return self.room.data();
    }
    static void land(void* arg, const void* head, std::size_t payload_length) {
        auto& self = *static_cast<landing_place*>(arg);
        const auto* first = static_cast<const std::byte*>(head);
        CHECK(bytes(first, first + header) == self.first_header);
        CHECK(payload_length == self.room.size());
        ++self.landed;
    }
};

// Returns the longest message of the operation with the largest limit.
struct longest {
    uct::op which;
    std::size_t length;
};

longest longest_message(const uct::iface_attr& attr) {
    longest found{uct::op::am_short, 0};
    for (const uct::op each : message_ops(attr)) {
        const std::size_t most = std::min<std::size_t>(lengths(attr, each).max, 1U << 20U);
        if (most > found.length) found = {each, most};
    }
    return found;
}

}  // namespace

CONFORMANCE_CASE(lands_whole, "a long message lands at the handler's destination", needs::landing) {
    landing_place place;
    const auto via = a.connect(b);
    b.iface().set_am_handler(2, place.handler());
    const auto [which, length] = longest_message(a.attr());
    const bytes message = make_message({1, 1}, length);
    REQUIRE(out.send(a, *via, which, 2, message));
    REQUIRE(net.run_until([&] { return place.landed + place.delivered > 0 && out.all_ended(); }));
    REQUIRE(place.landed == 1);
    CHECK(place.delivered == 0);
    const bool same = std::equal(place.room.begin(), place.room.end(),
                                 message.begin() + landing_place::header, message.end());
    CHECK(same);
}

CONFORMANCE_CASE(lands_not, "the handler may have a message delivered normally", needs::landing) {
    landing_place place;
    place.take = false;
    const auto via = a.connect(b);
    b.iface().set_am_handler(2, place.handler());
    const auto [which, length] = longest_message(a.attr());
    const bytes message = make_message({1, 1}, length);
    REQUIRE(out.send(a, *via, which, 2, message));
    REQUIRE(net.run_until([&] { return place.delivered > 0; }));
    CHECK(place.landed == 0);
    CHECK(place.asked <= 1);
    const bool same = place.last_delivered == message;
    CHECK(same);
}

CONFORMANCE_CASE(short_for_landing, "a message without payload after the header is delivered",
                 needs::landing) {
    landing_place place;
    const auto via = a.connect(b);
    b.iface().set_am_handler(2, place.handler());
    const uct::op which = message_ops(a.attr()).front();
    for (const std::size_t length : {header_size, landing_place::header}) {
        place.delivered = 0;
        const bytes message = make_message({1, 1}, length);
        REQUIRE(out.send(a, *via, which, 2, message));
        REQUIRE(net.run_until([&] { return place.delivered > 0; }));
        CHECK(place.last_delivered == message);
    }
    CHECK(place.landed == 0);
}

CONFORMANCE_CASE(dropped_while_landing, "the handler may give up a message that is landing",
                 needs::landing) {
    const auto via = a.connect(b);
    const auto [which, length] = longest_message(a.attr());
    for (std::uint32_t drop_from = 1; drop_from < 4; ++drop_from) {
        landing_place place;
        place.drop_from = drop_from;
        b.iface().set_am_handler(2, place.handler());
        b.inbox.clear();
        REQUIRE(out.send(a, *via, which, 2, make_message({1, 1}, length)));
        REQUIRE(out.send(a, *via, message_ops(a.attr()).front(), 1, make_message({2, 0}, 16)));
        REQUIRE(net.run_until([&] { return b.inbox.size() == 1 && out.all_ended(); }));
        CHECK(place.delivered == 0);
        // Either it landed with fewer calls, or it was dropped and no handler was called.
        CHECK(place.landed == (place.asked > drop_from ? 0U : 1U));
        b.record(2);
    }
}

}  // namespace conformance
