// Tests of paired lanes: in spite of failures while lanes are made, messages arrive over the
// remaining transports, and no side keeps lanes that the other does not use.
#include <algorithm>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/paired_world.hpp"

namespace {

using ucp::capi::handle;
using ucp_test::completion_record;
using uct::sim::parameters;

struct world : ucp_test::paired_world {
    world(std::uint64_t seed, const parameters& params)
        : paired_world(seed, params, UCP_FEATURE_TAG) {}

    // The buffer is static, so it outlives every send.
    static void send(ucp_ep_h over, completion_record& sent) {
        static const char text[] = "paired";
        note(ucp_tag_send_nbx(over, text, sizeof text, 1, sent.on_send()), sent);
    }
    void receive(std::size_t index, completion_record& received) {
        static char text[64];
        note(ucp_tag_recv_nbx(handle(*workers[index]), text, sizeof text, 0, 0, received.on_recv()),
             received);
    }
    [[nodiscard]] bool forgotten() const {
        return workers[0]->peers().size() == 0 && workers[1]->peers().size() == 0;
    }
};

parameters unsteady() {
    return {.delay_probability = 0.3,
            .max_connect_time = 50'000,
            .tx_window = 1,
            .rx_queue = 2,
            .refusal = 0.3};
}

// Both sides connect, send and receive at the same time, and close.
void exchange(std::uint64_t seed, const parameters& params) {
    CAPTURE(seed);
    completion_record sent[4];
    completion_record received[4];
    completion_record closed[2];
    world both(seed, params);
    ucp_ep_h eps[2];
    for (std::size_t i = 0; i < 2; ++i) {
        eps[i] = both.connect(i);
        for (std::size_t j = 0; j < 2; ++j) {
            world::send(eps[i], sent[2 * i + j]);
            both.receive(i, received[2 * i + j]);
        }
    }
    const bool arrived = both.driver.run_until([&] {
        return std::all_of(std::begin(received), std::end(received),
                           [](const completion_record& each) { return each.times == 1; });
    });
    INFO(both.driver.report());
    REQUIRE(arrived);
    for (std::size_t i = 0; i < 2; ++i)
        world::close(eps[i], false, closed[i]);
    REQUIRE(both.driver.run_until([&] { return both.forgotten(); }));
    for (const completion_record& each : sent)
        CHECK(each.status == UCS_OK);
    for (const completion_record& each : received)
        CHECK(each.status == UCS_OK);
    for (const completion_record& each : closed)
        CHECK(each.status == UCS_OK);
}

}  // namespace

TEST_CASE("pairing: both sides connect at the same time") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        exchange(seed, {});
        exchange(seed, unsteady());
    }
}

TEST_CASE("pairing: one side cannot make its lane, and the other one is notified") {
    const test::log_capture log;
    parameters params = unsteady();
    params.paired.creation_failure = 0.5;
    for (std::uint64_t seed = 1; seed <= 100; ++seed)
        exchange(seed, params);
}

TEST_CASE("pairing: no messages go over paired lanes on a dead path") {
    const test::log_capture log;
    parameters params = unsteady();
    params.paired.dead_path = 1;
    for (std::uint64_t seed = 1; seed <= 100; ++seed)
        exchange(seed, params);
}

TEST_CASE("pairing: a requester that closes before the reply notifies the responder") {
    const test::log_capture log;
    for (const double dead : {0.0, 1.0}) {
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            CAPTURE(dead, seed);
            parameters params = unsteady();
            params.paired.dead_path = dead;
            completion_record sent;
            completion_record closed;
            world both(seed, params);
            const ucp_ep_h ep = both.connect(0);
            world::send(ep, sent);
            std::uint64_t left = both.network.dice().below(60);
            static_cast<void>(both.driver.run_until([&] { return left-- == 0; }));
            world::close(ep, true, closed);
            const bool forgotten = both.driver.run_until([&] { return both.forgotten(); });
            INFO(both.driver.report());
            REQUIRE(forgotten);
        }
    }
}

TEST_CASE("pairing: an endpoint that closes and connects again gets new lanes") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        constexpr std::size_t rounds = 4;
        completion_record sent[rounds];
        completion_record received[rounds];
        completion_record closed[rounds];
        world both(seed, unsteady());
        for (std::size_t round = 0; round < rounds; ++round) {
            const ucp_ep_h ep = both.connect(0);
            world::send(ep, sent[round]);
            both.receive(1, received[round]);
            world::close(ep, false, closed[round]);
            const bool over = both.driver.run_until(
                [&] { return received[round].times == 1 && closed[round].times == 1; });
            INFO(both.driver.report());
            REQUIRE(over);
            CHECK(sent[round].status == UCS_OK);
            CHECK(received[round].status == UCS_OK);
        }
    }
}
