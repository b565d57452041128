// Conformance: messages of one endpoint arrive in the order in which they were accepted.
#include "test/conformance/support/suite.hpp"
#include "ucs/random/seeded.hpp"

namespace conformance {

namespace {

// Sends `count` messages of random operations and sizes without waiting for arrivals.
void send_mix(network& net, side& from, uct::ep& via, sender& out, std::uint32_t stream,
              std::uint32_t first, std::uint32_t count) {
    ucs::sys::random dice(stream * 977 + first);
    const auto ops = message_ops(from.attr());
    for (std::uint32_t i = first; i < first + count; ++i) {
        const uct::op which = ops[dice.below(ops.size())];
        const auto range = lengths(from.attr(), which);
        const std::size_t limit = std::min<std::size_t>(range.max, 20000);
        // Mostly small messages.
        const std::size_t span = dice.chance(0.2) ? limit : std::min<std::size_t>(limit, 200);
        const bytes message = make_message({stream, i}, dice.between(range.min, span));
        REQUIRE(out.send(from, via, which, 1, message));
    }
    static_cast<void>(net);
}

// Checks that the numbers of a stream grow by one, and the bytes are those that were sent.
void check_stream(const side& receiver, std::uint32_t stream, std::uint32_t count) {
    std::uint32_t next = 0;
    for (const received& message : receiver.inbox) {
        const tag id = tag_of(message.data);
        if (id.stream != stream) continue;
        const bool whole = message.data == make_message(id, message.data.size());
        REQUIRE(whole);
        REQUIRE(id.number == next);
        ++next;
    }
    CHECK(next == count);
}

}  // namespace

CONFORMANCE_CASE(mixed_order, "mixed operations of one endpoint keep their order",
                 needs::messages) {
    const auto via = a.connect(b);
    constexpr std::uint32_t count = 500;
    send_mix(net, a, *via, out, 1, 0, count);
    REQUIRE(net.run_until([&] { return b.inbox.size() == count && out.all_ended(); }));
    check_stream(b, 1, count);
    CHECK(out.each_called_once());
}

CONFORMANCE_CASE(both_directions, "both directions at once keep their order", needs::messages) {
    const auto there = a.connect(b);
    const auto back = b.connect(a);
    constexpr std::uint32_t rounds = 40;
    constexpr std::uint32_t each = 10;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        send_mix(net, a, *there, out, 1, round * each, each);
        send_mix(net, b, *back, out, 2, round * each, each);
    }
    const std::size_t all = net.one_side() ? 2 * rounds * each : rounds * each;
    REQUIRE(net.run_until(
        [&] { return a.inbox.size() == all && b.inbox.size() == all && out.all_ended(); }));
    check_stream(b, 1, rounds * each);
    check_stream(a, 2, rounds * each);
}

CONFORMANCE_CASE(many_to_one, "each of many endpoints to one interface keeps its order",
                 needs::messages) {
    side& target = a;
    std::vector<std::unique_ptr<uct::ep>> eps;
    constexpr std::uint32_t sides = 5;
    constexpr std::uint32_t eps_each = 3;
    for (std::uint32_t s = 0; s < sides; ++s) {
        for (std::uint32_t e = 0; e < eps_each; ++e)
            eps.push_back(net.at(1 + s).connect(target));
    }
    constexpr std::uint32_t rounds = 8;
    constexpr std::uint32_t burst = 5;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t e = 0; e < eps.size(); ++e)
            send_mix(net, net.at(1 + e / eps_each), *eps[e], out, e, round * burst, burst);
    }
    REQUIRE(net.run_until(
        [&] { return target.inbox.size() == eps.size() * rounds * burst && out.all_ended(); }));
    for (std::uint32_t e = 0; e < eps.size(); ++e)
        check_stream(target, e, rounds * burst);
    eps.clear();
}

CONFORMANCE_CASE(one_to_many, "an interface sends to many peers, and each gets its own messages",
                 needs::messages | needs::two_sides) {
    constexpr std::uint32_t peers = 6;
    side& root = a;
    std::vector<std::unique_ptr<uct::ep>> eps;
    for (std::uint32_t p = 0; p < peers; ++p)
        eps.push_back(root.connect(net.at(1 + p)));
    constexpr std::uint32_t count = 60;
    for (std::uint32_t i = 0; i < count; i += 10) {
        for (std::uint32_t p = 0; p < peers; ++p)
            send_mix(net, root, *eps[p], out, p, i, 10);
    }
    REQUIRE(net.run_until([&] {
        std::size_t there = 0;
        for (std::uint32_t p = 0; p < peers; ++p)
            there += net.at(1 + p).inbox.size();
        return there == peers * count && out.all_ended();
    }));
    for (std::uint32_t p = 0; p < peers; ++p)
        check_stream(net.at(1 + p), p, count);
    eps.clear();
}

}  // namespace conformance
