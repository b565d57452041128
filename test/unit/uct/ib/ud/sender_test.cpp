// Unit tests: the protocol of a connection over a network in virtual time that loses, duplicates
// and reorders datagrams.
#include "uct/ib/ud/base/sender.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <vector>

#include "ucs/random/seeded.hpp"
#include "uct/ib/ud/base/receive_window.hpp"

using namespace uct::ud;
using namespace ucs::time;

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

// A sender, a receiver, and the datagrams between them.
class world {
public:
    explicit world(std::uint64_t seed, const network& with = {},
                   nanoseconds patience = 30'000 * millisecond)
        : protocol(setup_of(patience)), dice_(seed), with_(with) {}
    ~world() {
        packet_list left;
        protocol.window.abandon(left);
        left.clear();
    }

    // Sends packets as the window has room for them.
    void send(std::uint32_t count) { wanted_ += count; }
    bool run(nanoseconds most) {
        const nanoseconds end = now + most;
        while (now < end && !(accepted_ == wanted_ && protocol.window.empty() &&
                              (!leaves || protocol.is_ended()))) {
            if (protocol.current_state() == sender::state::failed) return false;
            step();
        }
        return now < end;
    }
    void step() {
        while (accepted_ < wanted_ && protocol.window.has_room(1)) {
            packets_.emplace_back();
            protocol.window.add(packets_.back());
            ++accepted_;
        }
        if (leaves && accepted_ == wanted_ && !left_) {
            left_ = true;
            protocol.close();
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
            const datagram message = on_way_.begin()->second;
            on_way_.erase(on_way_.begin());
            message.to_sender ? at_sender(message) : at_receiver(message);
        }
    }
    // The receiver loses its state of the connection.
    void forget() { receiver_.reset(); }

    sender protocol;
    nanoseconds now = millisecond;
    bool silent = false;  // the receiver sends no replies
    bool deaf = false;    // replies of the receiver are lost
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
        wire::kind type;
        psn number;
        std::uint64_t to;
        std::uint64_t word;  // bit mask of an ack, or an id
        std::uint32_t count;
    };

    void put(const datagram& message) {
        if (dice_.chance(with_.loss)) return;
        const unsigned copies = dice_.chance(with_.twice) ? 2 : 1;
        for (unsigned i = 0; i < copies; ++i) {
            nanoseconds time = 10 * microsecond;
            if (dice_.chance(with_.late)) time += dice_.below(3000) * microsecond;
            on_way_.emplace(now + time, message);
        }
    }
    void go_out() {
        if (const auto request = protocol.pending_request()) {
            put({false, request->type, request->number, protocol.remote(), 0, request->count});
            protocol.request_sent(now);
        }
        while (tx_packet* next = protocol.next_to_send()) {
            put({false, wire::kind::data, next->number, protocol.remote(), 0, 0});
            protocol.note_sent(*next, now);
        }
    }
    void at_receiver(const datagram& message) {
        if (silent) return;
        switch (message.type) {
            case wire::kind::data:
                return take_data(message);
            case wire::kind::request:
            case wire::kind::resync:
                if (!receiver_) {
                    receiver_.emplace(state{receive_window<std::uint32_t>(message.number), ++ids_});
                }
                if (message.type == wire::kind::resync && message.count > receiver_->resync) {
                    receiver_->resync = message.count;
                    receiver_->window.drop([](std::uint32_t) {});
                    receiver_->window.restart(message.number);
                    ++resyncs;
                }
                return put({true, wire::kind::reply, receiver_->window.expected(), 0, receiver_->id,
                            message.count});
            case wire::kind::goodbye:
                receiver_.reset();
                return put({true, wire::kind::ended, {}, 0, message.to, 0});
            default:
                FAIL("the sender sent a datagram type that it must not send");
        }
    }
    void take_data(const datagram& message) {
        if (!receiver_ || receiver_->id != message.to) {
            return put({true, wire::kind::ended, {}, 0, message.to, 0});
        }
        auto& window = receiver_->window;
        using turn = receive_window<std::uint32_t>::turn;
        const auto index = static_cast<std::uint32_t>(message.number - first_number);
        switch (window.turn_of(message.number)) {
            case turn::now:
                delivered.push_back(index);
                window.advance();
                while (const std::uint32_t kept = window.take()) {
                    delivered.push_back(kept - 1);
                    window.advance();
                }
                break;
            case turn::early:
                REQUIRE(window.keep(message.number, index + 1));
                break;
            case turn::far:
                return put({true, wire::kind::refuse, window.expected(), 0, 0, 0});
            case turn::again:
                break;
        }
        put({true, wire::kind::ack, window.expected(), 0, window.beyond(), 0});
    }
    void at_sender(const datagram& message) {
        if (deaf) return;
        packet_list done;
        switch (message.type) {
            case wire::kind::ack:
                protocol.on_acknowledge(message.number, message.word, now, done);
                break;
            case wire::kind::reply:
                protocol.on_reply({message.word, message.count}, message.number, now, done);
                break;
            case wire::kind::refuse:
                protocol.on_refuse(message.number, now);
                break;
            default:
                protocol.on_unknown(message.word, now);
        }
        done.clear();
    }

    ucs::sys::random dice_;
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
    CHECK(over.protocol.current_state() == sender::state::closed);
    CHECK(over.protocol.window.repeated() == 0);
    CHECK(over.protocol.window.timer.smoothed() > 10 * microsecond);
    CHECK(over.protocol.window.timer.smoothed() < 30 * microsecond);
}

TEST_CASE("no packet is lost or delivered twice in a network that loses, duplicates and reorders") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        world over(seed,
                   {0.1 * static_cast<double>(seed % 4), 0.1, 0.1 * static_cast<double>(seed % 3)});
        over.leaves = true;
        over.send(400);
        REQUIRE(over.run(200'000 * millisecond));
        check_delivered(over, 400);
        CHECK(over.protocol.current_state() == sender::state::closed);
        CHECK(over.resyncs == 0);
    }
}

TEST_CASE("lost packets are found before the timer expires") {
    world over(3, {0.05, 0, 0});
    over.send(2000);
    const nanoseconds begin = over.now;
    REQUIRE(over.run(100'000 * millisecond));
    check_delivered(over, 2000);
    // There are about a hundred losses. A timer takes at least a millisecond, so most losses are
    // found without one.
    CHECK(over.protocol.window.repeated() >= 50);
    CHECK(over.now - begin < 60 * millisecond);
}

TEST_CASE("a receiver that lost its state is brought up to date by a resync") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        world over(
            seed, {0.1 * static_cast<double>(seed % 2), 0.1, 0.05 * static_cast<double>(seed % 3)});
        over.send(30);
        REQUIRE(over.run(100'000 * millisecond));
        // All datagrams in flight have arrived by then.
        for (const nanoseconds end = over.now + 500 * millisecond; over.now < end;)
            over.step();
        over.forget();
        over.send(70);
        REQUIRE(over.run(100'000 * millisecond));
        check_delivered(over, 100);
        CHECK(over.protocol.resyncs() <= 1);
        CHECK(over.protocol.current_state() == sender::state::connected);
    }
}

namespace {

// A connection that has carried messages.
struct connected {
    connected() {
        over.send(10);
        REQUIRE(over.run(1000 * millisecond));
    }
    world over{1, {}, 2000 * millisecond};
};

}  // namespace

TEST_CASE_METHOD(
    connected,
    "packets that a receiver may have delivered before it lost its state are not repeated") {
    over.deaf = true;
    over.send(1);
    while (over.delivered.size() < 11)
        over.step();
    over.step();
    // The sender's process made no progress, and the receiver has waited long enough.
    over.now += 5000 * millisecond;
    over.forget();
    over.deaf = false;
    CHECK_FALSE(over.run(60'000 * millisecond));
    CHECK(over.protocol.error() == UCS_ERR_ENDPOINT_TIMEOUT);
    check_delivered(over, 11);
}

TEST_CASE("a late reply does not make packets sent before it safe to repeat") {
    constexpr nanoseconds patience = 2000 * millisecond;
    for (const bool asked : {false, true}) {
        CAPTURE(asked);
        sender tx(setup_of(patience));
        packet_list done;
        std::deque<tx_packet> packets(2);
        tx.start();
        tx.request_sent(1);
        tx.on_reply({7, 1}, first_number, 2, done);
        for (tx_packet& each : packets) {
            tx.window.add(each);
            tx.note_sent(*tx.next_to_send(), 3);
        }
        // This acknowledges the first packet. It was received while this process made no progress.
        tx.on_acknowledge(first_number + 1, 0, 3 + patience, done);
        REQUIRE(tx.current_state() == sender::state::connected);
        if (asked) {
            for (int timers = 0; timers < 3; ++timers) {
                tx.on_time(tx.deadline());
                tx.note_sent(*tx.next_to_send(), 4 + patience);
            }
            const auto request = tx.pending_request();
            REQUIRE(request);
            tx.request_sent(5 + patience);
            tx.on_reply({9, request->count}, first_number + 1, 6 + patience, done);
        } else {
            tx.on_unknown(7, 4 + patience);
        }
        CHECK(tx.error() == UCS_ERR_ENDPOINT_TIMEOUT);
        done.clear();
        tx.window.abandon(done);
        done.clear();
    }
}

TEST_CASE("a receiver whose number is behind is corrected by a resync") {
    world over(1);
    over.send(20);
    REQUIRE(over.run(1000 * millisecond));
    over.receiver_->window.restart(first_number + 0xfffff000U);
    over.send(20);
    REQUIRE(over.run(60'000 * millisecond));
    check_delivered(over, 40);
    CHECK(over.resyncs == 1);
}

TEST_CASE("a late refusal leads to a request, and to no resync") {
    world over(1);
    over.send(20);
    REQUIRE(over.run(1000 * millisecond));
    over.protocol.on_refuse(first_number, over.now);
    CHECK(over.protocol.current_state() == sender::state::connected);
    const auto request = over.protocol.pending_request();
    REQUIRE(request);
    CHECK(request->type == wire::kind::request);
    over.send(20);
    REQUIRE(over.run(1000 * millisecond));
    check_delivered(over, 40);
    CHECK(over.protocol.resyncs() == 0);
    CHECK(over.protocol.window.repeated() == 0);
    // A refusal that names the expected number is late in any case.
    over.protocol.on_refuse(over.protocol.window.oldest(), over.now);
    CHECK_FALSE(over.protocol.pending_request());
}

TEST_CASE("a resync that is repeated counts once, and earlier packets may be unfinished") {
    sender tx(setup_of(millisecond));
    packet_list done;
    std::deque<tx_packet> packets(3);
    tx.start();
    tx.request_sent(1);
    tx.on_reply({7, tx.pending_request() ? 0U : 1U}, first_number, 2, done);
    REQUIRE(tx.current_state() == sender::state::connected);
    for (tx_packet& each : packets) {
        tx.window.add(each);
        tx.note_sent(*tx.next_to_send(), 3);
    }
    tx.on_acknowledge(first_number + 1, 0, 4, done);
    tx.on_unknown(8, 5);  // an id of another connection
    CHECK(tx.current_state() == sender::state::connected);
    tx.on_unknown(7, 5);
    REQUIRE(tx.current_state() == sender::state::resyncing);
    const auto request = tx.pending_request();
    REQUIRE(request);
    CHECK(request->type == wire::kind::resync);
    CHECK(request->number == first_number + 1);
    // The resync takes no place in the window, and no packet is sent meanwhile.
    CHECK(tx.window.held() == 2);
    CHECK(tx.next_to_send() == nullptr);
    tx.request_sent(6);
    CHECK_FALSE(tx.pending_request());
    tx.on_unknown(7, 7);
    CHECK_FALSE(tx.pending_request());
    // A reply to an earlier request is ignored.
    tx.on_reply({9, request->count - 1}, first_number + 1, 8, done);
    CHECK(tx.current_state() == sender::state::resyncing);
    tx.on_reply({9, request->count}, first_number + 1, 8, done);
    CHECK(tx.current_state() == sender::state::connected);
    CHECK(tx.remote() == 9);
    unsigned again = 0;
    for (; tx.next_to_send() != nullptr; ++again)
        tx.note_sent(*tx.next_to_send(), 9);
    CHECK(again == 2);
    done.clear();
    tx.window.abandon(done);
    done.clear();
}

TEST_CASE_METHOD(connected, "a peer that is silent for longer than allowed is lost") {
    over.silent = true;
    over.send(1);
    const nanoseconds begin = over.now;
    CHECK_FALSE(over.run(60'000 * millisecond));
    CHECK(over.protocol.error() == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(over.now - begin >= 2000 * millisecond);
    CHECK(over.now - begin < 2500 * millisecond);
}

TEST_CASE_METHOD(connected,
                 "a peer is not lost if it replies in time, or if no reply is expected") {
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

TEST_CASE_METHOD(connected, "check finds out whether the peer is there") {
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

TEST_CASE("time without progress does not count as silence") {
    sender tx(setup_of(millisecond));
    tx.start();
    tx.request_sent(1);
    tx.on_time(3'600'000 * millisecond);
    CHECK(tx.error() == UCS_OK);
}

TEST_CASE("a peer that closes ends the connection") {
    world over(1);
    over.send(3);
    REQUIRE(over.run(1000 * millisecond));
    over.protocol.fail(UCS_ERR_NOT_CONNECTED);
    CHECK(over.protocol.current_state() == sender::state::failed);
    CHECK(over.protocol.error() == UCS_ERR_NOT_CONNECTED);
    over.protocol.fail(UCS_ERR_IO_ERROR);
    CHECK(over.protocol.error() == UCS_ERR_NOT_CONNECTED);
    CHECK(over.protocol.deadline() == 0);
}

TEST_CASE("an endpoint that was never used sends no goodbye") {
    sender tx(setup_of(millisecond));
    tx.close();
    CHECK(tx.current_state() == sender::state::closed);
    CHECK_FALSE(tx.pending_request());
}
