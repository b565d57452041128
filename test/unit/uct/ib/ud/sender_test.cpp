// The protocol of a connection over a network in virtual time that loses, repeats and reorders.
#include "uct/ib/ud/base/sender.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "uct/ib/ud/base/receive_window.hpp"
#include "uct/sim/random.hpp"

using namespace uct::ud;
using ucs::time::microsecond;
using ucs::time::millisecond;
using ucs::time::nanoseconds;

namespace {

constexpr psn first_number(0xffffff00U);

sender::setup setup_of(nanoseconds patience) {
    return {{32, 8, {20 * millisecond, millisecond, 200 * millisecond}}, patience, first_number};
}

struct network {
    double loss = 0;
    double twice = 0;
    double late = 0;
};

// One sender, one receiver, and what is on its way between them.
class world {
public:
    explicit world(std::uint64_t seed, const network& with = {},
                   nanoseconds patience = 30'000 * millisecond)
        : protocol(setup_of(patience)), dice_(seed), with_(with) {}
    ~world() {
        packet_list left;
        protocol.window().abandon(left);
        left.clear();
    }

    // Packets that are accepted as there is room for them.
    void send(std::uint32_t count) { wanted_ += count; }
    bool run(nanoseconds most) {
        const nanoseconds end = now + most;
        while (now < end && !(accepted_ == wanted_ && protocol.window().empty() &&
                              (!leaves || protocol.ended()))) {
            if (protocol.at() == sender::state::failed) return false;
            step();
        }
        return now < end;
    }
    void step() {
        while (accepted_ < wanted_ && protocol.window().has_room(1)) {
            packets_.emplace_back();
            protocol.window().add(packets_.back());
            ++accepted_;
        }
        if (leaves && accepted_ == wanted_ && !left_) {
            left_ = true;
            protocol.leave();
        }
        protocol.start();
        go_out();
        const nanoseconds due = protocol.deadline();
        const nanoseconds next = on_way_.empty() ? due : on_way_.begin()->first;
        if (next == 0 && due == 0) {
            now += millisecond;
            return;
        }
        now = std::max(now, due == 0 ? next : std::min(due, next));
        protocol.on_time(now);
        while (!on_way_.empty() && on_way_.begin()->first <= now) {
            const datagram what = on_way_.begin()->second;
            on_way_.erase(on_way_.begin());
            what.to_sender ? at_sender(what) : at_receiver(what);
        }
    }
    // The receiver loses all that it knows of the connection.
    void forget() { receiver_.reset(); }

    sender protocol;
    nanoseconds now = millisecond;
    bool silent = false;  // the receiver does not answer
    bool deaf = false;    // its answers are lost
    bool leaves = false;
    std::vector<std::uint32_t> delivered;
    unsigned resyncs = 0;
    struct state {
        receive_window<std::uint32_t> window;
        std::uint64_t id;
        std::uint32_t resync = 0;
    };
    std::optional<state> receiver_;

private:
    struct datagram {
        bool to_sender;
        wire::kind what;
        psn number;
        std::uint64_t to;
        std::uint64_t word;  // beyond, or an id
        std::uint32_t count;
    };

    void put(const datagram& what) {
        if (dice_.chance(with_.loss)) return;
        const unsigned copies = dice_.chance(with_.twice) ? 2 : 1;
        for (unsigned i = 0; i < copies; ++i) {
            nanoseconds time = 10 * microsecond;
            if (dice_.chance(with_.late)) time += dice_.below(3000) * microsecond;
            on_way_.emplace(now + time, what);
        }
    }
    void go_out() {
        if (const auto asks = protocol.to_ask()) {
            put({false, asks->what, asks->number, protocol.remote(), 0, asks->count});
            protocol.asked(now);
        }
        while (tx_packet* next = protocol.to_send()) {
            put({false, wire::kind::data, next->number, protocol.remote(), 0, 0});
            protocol.sent(*next, now);
        }
    }
    void at_receiver(const datagram& what) {
        if (silent) return;
        switch (what.what) {
            case wire::kind::data:
                return take_data(what);
            case wire::kind::request:
            case wire::kind::resync:
                if (!receiver_) {
                    receiver_.emplace(state{receive_window<std::uint32_t>(what.number), ++ids_});
                }
                if (what.what == wire::kind::resync && what.count > receiver_->resync) {
                    receiver_->resync = what.count;
                    receiver_->window.drop([](std::uint32_t) {});
                    receiver_->window.restart(what.number);
                    ++resyncs;
                }
                return put({true, wire::kind::reply, receiver_->window.expected(), 0, receiver_->id,
                            what.count});
            case wire::kind::goodbye:
                receiver_.reset();
                return put({true, wire::kind::ended, {}, 0, what.to, 0});
            default:
                FAIL("a sender says what it cannot say");
        }
    }
    void take_data(const datagram& what) {
        if (!receiver_ || receiver_->id != what.to) {
            return put({true, wire::kind::ended, {}, 0, what.to, 0});
        }
        auto& window = receiver_->window;
        using turn = receive_window<std::uint32_t>::turn;
        const auto index = static_cast<std::uint32_t>(what.number - first_number);
        switch (window.turn_of(what.number)) {
            case turn::now:
                delivered.push_back(index);
                window.advance();
                while (const std::uint32_t kept = window.take()) {
                    delivered.push_back(kept - 1);
                    window.advance();
                }
                break;
            case turn::early:
                REQUIRE(window.keep(what.number, index + 1));
                break;
            case turn::far:
                return put({true, wire::kind::refuse, window.expected(), 0, 0, 0});
            case turn::again:
                break;
        }
        put({true, wire::kind::ack, window.expected(), 0, window.beyond(), 0});
    }
    void at_sender(const datagram& what) {
        if (deaf) return;
        packet_list done;
        switch (what.what) {
            case wire::kind::ack:
                protocol.acknowledged(what.number, what.word, now, done);
                break;
            case wire::kind::reply:
                protocol.welcomed({what.word, what.count}, what.number, now, done);
                break;
            case wire::kind::refuse:
                protocol.refused(what.number, now);
                break;
            default:
                protocol.unknown(what.word, now);
        }
        done.clear();
    }

    uct::sim::random dice_;
    const network with_;
    std::multimap<nanoseconds, datagram> on_way_;
    std::deque<tx_packet> packets_;
    std::uint32_t wanted_ = 0;
    std::uint32_t accepted_ = 0;
    bool left_ = false;
    std::uint64_t ids_ = 100;
};

void check_delivered(const world& in, std::uint32_t count) {
    REQUIRE(in.delivered.size() == count);
    for (std::uint32_t i = 0; i < count; ++i)
        REQUIRE(in.delivered[i] == i);
}

}  // namespace

TEST_CASE("packets arrive in order, once, and the connection ends") {
    world over(1);
    over.leaves = true;
    over.send(1000);
    REQUIRE(over.run(10'000 * millisecond));
    check_delivered(over, 1000);
    CHECK(over.protocol.at() == sender::state::closed);
    CHECK(over.protocol.window().repeated() == 0);
    CHECK(over.protocol.window().timer().smoothed() > 10 * microsecond);
    CHECK(over.protocol.window().timer().smoothed() < 30 * microsecond);
}

TEST_CASE("nothing is lost nor delivered twice in a network that loses, repeats and reorders") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        world over(seed,
                   {0.1 * static_cast<double>(seed % 4), 0.1, 0.1 * static_cast<double>(seed % 3)});
        over.leaves = true;
        over.send(400);
        REQUIRE(over.run(200'000 * millisecond));
        check_delivered(over, 400);
        CHECK(over.protocol.at() == sender::state::closed);
        CHECK(over.resyncs == 0);
    }
}

TEST_CASE("lost packets are found before the timer runs out") {
    world over(3, {0.05, 0, 0});
    over.send(2000);
    const nanoseconds begin = over.now;
    REQUIRE(over.run(100'000 * millisecond));
    check_delivered(over, 2000);
    // About a hundred losses; a timer takes a millisecond at least, most of them take no timer.
    CHECK(over.protocol.window().repeated() >= 50);
    CHECK(over.now - begin < 60 * millisecond);
}

TEST_CASE("a receiver that forgot the connection gets it again by a resync") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        world over(
            seed, {0.1 * static_cast<double>(seed % 2), 0.1, 0.05 * static_cast<double>(seed % 3)});
        over.send(30);
        REQUIRE(over.run(100'000 * millisecond));
        // What is still on its way has arrived before so much time has passed.
        for (const nanoseconds end = over.now + 500 * millisecond; over.now < end;)
            over.step();
        over.forget();
        over.send(70);
        REQUIRE(over.run(100'000 * millisecond));
        check_delivered(over, 100);
        CHECK(over.protocol.resyncs() <= 1);
        CHECK(over.protocol.at() == sender::state::connected);
    }
}

TEST_CASE("what a receiver may have delivered before it forgot the connection is not repeated") {
    world over(1, {}, 2000 * millisecond);
    over.send(10);
    REQUIRE(over.run(1000 * millisecond));
    over.deaf = true;
    over.send(1);
    while (over.delivered.size() < 11)
        over.step();
    over.step();
    // The sender's process did not run, and the receiver has waited for long enough.
    over.now += 5000 * millisecond;
    over.forget();
    over.deaf = false;
    CHECK_FALSE(over.run(60'000 * millisecond));
    CHECK(over.protocol.error() == UCS_ERR_ENDPOINT_TIMEOUT);
    check_delivered(over, 11);
}

TEST_CASE("an answer that was late does not make what was sent before it new") {
    constexpr nanoseconds patience = 2000 * millisecond;
    for (const bool asked : {false, true}) {
        CAPTURE(asked);
        sender of(setup_of(patience));
        packet_list done;
        std::deque<tx_packet> packets(2);
        of.start();
        of.asked(1);
        of.welcomed({7, 1}, first_number, 2, done);
        for (tx_packet& each : packets) {
            of.window().add(each);
            of.sent(*of.to_send(), 3);
        }
        // Of the first one, and it lay there while this process did not look.
        of.acknowledged(first_number + 1, 0, 3 + patience, done);
        REQUIRE(of.at() == sender::state::connected);
        if (asked) {
            for (int timers = 0; timers < 3; ++timers) {
                of.on_time(of.deadline());
                of.sent(*of.to_send(), 4 + patience);
            }
            const auto asks = of.to_ask();
            REQUIRE(asks);
            of.asked(5 + patience);
            of.welcomed({9, asks->count}, first_number + 1, 6 + patience, done);
        } else {
            of.unknown(7, 4 + patience);
        }
        CHECK(of.error() == UCS_ERR_ENDPOINT_TIMEOUT);
        done.clear();
        of.window().abandon(done);
        done.clear();
    }
}

TEST_CASE("a receiver whose number is behind is brought to the sender's by a resync") {
    world over(1);
    over.send(20);
    REQUIRE(over.run(1000 * millisecond));
    over.receiver_->window.restart(first_number + 0xfffff000U);
    over.send(20);
    REQUIRE(over.run(60'000 * millisecond));
    check_delivered(over, 40);
    CHECK(over.resyncs == 1);
}

TEST_CASE("a refusal that is late brings a question about, and no resync") {
    world over(1);
    over.send(20);
    REQUIRE(over.run(1000 * millisecond));
    over.protocol.refused(first_number, over.now);
    CHECK(over.protocol.at() == sender::state::connected);
    const auto asks = over.protocol.to_ask();
    REQUIRE(asks);
    CHECK(asks->what == wire::kind::request);
    over.send(20);
    REQUIRE(over.run(1000 * millisecond));
    check_delivered(over, 40);
    CHECK(over.protocol.resyncs() == 0);
    CHECK(over.protocol.window().repeated() == 0);
    // One of what is expected is late in any case.
    over.protocol.refused(over.protocol.window().oldest(), over.now);
    CHECK_FALSE(over.protocol.to_ask());
}

TEST_CASE("a resync that is repeated counts once, and earlier packets may be unfinished") {
    sender of(setup_of(millisecond));
    packet_list done;
    std::deque<tx_packet> packets(3);
    of.start();
    of.asked(1);
    of.welcomed({7, of.to_ask() ? 0U : 1U}, first_number, 2, done);
    REQUIRE(of.at() == sender::state::connected);
    for (tx_packet& each : packets) {
        of.window().add(each);
        of.sent(*of.to_send(), 3);
    }
    of.acknowledged(first_number + 1, 0, 4, done);
    of.unknown(8, 5);  // of another connection
    CHECK(of.at() == sender::state::connected);
    of.unknown(7, 5);
    REQUIRE(of.at() == sender::state::resyncing);
    const auto asks = of.to_ask();
    REQUIRE(asks);
    CHECK(asks->what == wire::kind::resync);
    CHECK(asks->number == first_number + 1);
    // It takes no place among packets, and none goes meanwhile.
    CHECK(of.window().held() == 2);
    CHECK(of.to_send() == nullptr);
    of.asked(6);
    CHECK_FALSE(of.to_ask());
    of.unknown(7, 7);
    CHECK_FALSE(of.to_ask());
    // An answer to an earlier question is not taken for the one to this.
    of.welcomed({9, asks->count - 1}, first_number + 1, 8, done);
    CHECK(of.at() == sender::state::resyncing);
    of.welcomed({9, asks->count}, first_number + 1, 8, done);
    CHECK(of.at() == sender::state::connected);
    CHECK(of.remote() == 9);
    unsigned again = 0;
    for (; of.to_send() != nullptr; ++again)
        of.sent(*of.to_send(), 9);
    CHECK(again == 2);
    done.clear();
    of.window().abandon(done);
    done.clear();
}

TEST_CASE("a peer that is silent for longer than allowed is lost") {
    world over(1, {}, 2000 * millisecond);
    over.send(10);
    REQUIRE(over.run(1000 * millisecond));
    over.silent = true;
    over.send(1);
    const nanoseconds begin = over.now;
    CHECK_FALSE(over.run(60'000 * millisecond));
    CHECK(over.protocol.error() == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(over.now - begin >= 2000 * millisecond);
    CHECK(over.now - begin < 2500 * millisecond);
}

TEST_CASE("a peer that answers again in time is not lost, and one that nobody waits for neither") {
    world over(1, {}, 2000 * millisecond);
    over.send(10);
    REQUIRE(over.run(1000 * millisecond));
    over.silent = true;
    for (const nanoseconds end = over.now + 10'000 * millisecond; over.now < end;)
        over.step();
    CHECK(over.protocol.error() == UCS_OK);
    over.send(1);
    for (const nanoseconds end = over.now + 1500 * millisecond; over.now < end;)
        over.step();
    over.silent = false;
    over.send(5);
    REQUIRE(over.run(60'000 * millisecond));
    check_delivered(over, 16);
}

TEST_CASE("a look finds out whether the peer is there") {
    world over(1, {}, 2000 * millisecond);
    over.send(10);
    REQUIRE(over.run(1000 * millisecond));
    over.protocol.check();
    for (const nanoseconds end = over.now + 5000 * millisecond; over.now < end;)
        over.step();
    CHECK(over.protocol.error() == UCS_OK);
    over.silent = true;
    over.protocol.check();
    for (const nanoseconds end = over.now + 5000 * millisecond; over.now < end;)
        over.step();
    CHECK(over.protocol.error() == UCS_ERR_ENDPOINT_TIMEOUT);
}

TEST_CASE("time that passes while nobody looks is no silence") {
    sender of(setup_of(millisecond));
    of.start();
    of.asked(1);
    of.on_time(3'600'000 * millisecond);
    CHECK(of.error() == UCS_OK);
}

TEST_CASE("a peer that goes ends the connection") {
    world over(1);
    over.send(3);
    REQUIRE(over.run(1000 * millisecond));
    over.protocol.left();
    CHECK(over.protocol.at() == sender::state::failed);
    CHECK(over.protocol.error() == UCS_ERR_NOT_CONNECTED);
    over.protocol.fail(UCS_ERR_IO_ERROR);
    CHECK(over.protocol.error() == UCS_ERR_NOT_CONNECTED);
    CHECK(over.protocol.deadline() == 0);
}

TEST_CASE("an endpoint that was never used has nothing to say") {
    sender of(setup_of(millisecond));
    of.leave();
    CHECK(of.at() == sender::state::closed);
    CHECK_FALSE(of.to_ask());
}
