// Unit tests: paired endpoints on the simulated network.

#include "test/support/log_capture.hpp"
#include "test/unit/uct/sim/paired_fixture.hpp"

namespace {

using namespace sim_fixture;
using namespace uct::sim;

struct waiting : uct::pending_request {
    explicit waiting(uct::ep& e)
        : uct::pending_request{.progress = run, .pending_hook = {}}, via(e) {}
    static ucs_status_t run(uct::pending_request& request) {
        auto& self = static_cast<waiting&>(request);
        return self.result = send(self.via, 77);
    }
    uct::ep& via;
    ucs_status_t result = UCS_INPROGRESS;
};

}  // namespace

TEST_CASE("sim pairs: a resource and its interfaces report pairing, and are the faster ones") {
    fabric net(1);
    const paired_component component(net);
    const worker paired(component, 1);
    const worker other(net, 2);
    const uct::listing found = component.query(paired.config);
    REQUIRE(found.usable.size() == 1);
    CHECK(found.usable.front().paired);
    CHECK(found.usable.front().transport == "simrc");
    CHECK(paired.iface->attr().connection_length == 16);
    CHECK(other.iface->attr().connection_length == 0);
    CHECK(paired.iface->attr().latency < other.iface->attr().latency);
    bytes address(other.iface->attr().address_length);
    other.iface->pack_address(address);
    CHECK_FALSE(paired.iface->check_reachable(address).ok());
}

TEST_CASE("sim pairs: nothing is sent before an endpoint is connected, then pending sends are") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        network both(seed, {.max_connect_time = 5000});
        waiting request(*both.there);
        CHECK(send(*both.there, 1) == UCS_ERR_NO_RESOURCE);
        both.there->pending_add(request);
        both.finish();
        CHECK(request.result == UCS_ERR_NO_RESOURCE);
        CHECK(both.there->flush(nullptr) == UCS_OK);
        both.connect();
        both.finish();
        CHECK(request.result == UCS_OK);
        CHECK(numbers(both.b) == std::vector<std::uint64_t>{77});
    }
}

TEST_CASE("sim pairs: messages wait for a partner that is connected late, and arrive in order") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        network both(seed);
        REQUIRE(both.connect_a() == UCS_OK);
        counting_completion flushed;
        for (std::uint64_t i = 0; i < 5; ++i)
            REQUIRE(send(*both.there, i) == UCS_OK);
        REQUIRE(both.there->flush(&flushed) == UCS_INPROGRESS);
        const auto& pairs = both.net.network().paired;
        both.let_run(pairs.retransmission_time * (pairs.retransmissions - 2));
        CHECK(both.b.inbox.empty());
        CHECK(flushed.times == 0);
        REQUIRE(both.connect_b() == UCS_OK);
        for (std::uint64_t i = 5; i < 9; ++i)
            REQUIRE(send(*both.there, i) == UCS_OK);
        both.finish();
        CHECK(numbers(both.b) == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
        CHECK(flushed.times == 1);
        CHECK(flushed.status == UCS_OK);
        CHECK(both.a.failures.empty());
        CHECK(both.b.failures.empty());
    }
}

TEST_CASE("sim pairs: an endpoint whose partner is never connected fails in the end") {
    network both(2);
    REQUIRE(both.connect_a() == UCS_OK);
    counting_completion flushed;
    REQUIRE(send(*both.there, 1) == UCS_OK);
    REQUIRE(both.there->flush(&flushed) == UCS_INPROGRESS);
    both.let_run(give_up_time(both.net));
    CHECK(both.a.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
    CHECK(flushed.status == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(send(*both.there, 2) == UCS_ERR_ENDPOINT_TIMEOUT);
    // The other endpoint notices when it sends.
    REQUIRE(both.connect_b() == UCS_OK);
    both.let_run(give_up_time(both.net));
    CHECK(both.b.failures.empty());
    REQUIRE(send(*both.back, 3) == UCS_OK);
    both.let_run(give_up_time(both.net));
    CHECK(both.b.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
    CHECK(both.a.inbox.empty());
    CHECK(both.b.inbox.empty());
}

TEST_CASE("sim pairs: check finds out that a partner is gone") {
    network both(3);
    both.connect();
    both.there->check();
    both.let_run(give_up_time(both.net));
    CHECK(both.a.failures.empty());
    CHECK(both.b.inbox.empty());
    both.net.fail_after(0, 1, 10);  // in both directions
    both.let_run(give_up_time(both.net));
    CHECK(both.a.failures.size() == 1);
    CHECK(both.b.failures == std::vector{UCS_ERR_CONNECTION_RESET});

    network silent(4, {.both_ways = false});
    silent.connect();
    silent.net.fail_after(0, 1, 10);
    silent.let_run(give_up_time(silent.net));
    CHECK(silent.b.failures.empty());
    silent.back->check();
    silent.let_run(give_up_time(silent.net));
    CHECK(silent.b.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
}

TEST_CASE(
    "sim pairs: an endpoint ends when its messages have arrived, and its partner is notified") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        parameters options{.delay_probability = 0.3, .rx_queue = 2};
        network both(seed, options);
        both.connect();
        counting_completion back_flushed;
        for (std::uint64_t i = 0; i < 6; ++i) {
            REQUIRE(send(*both.there, i) == UCS_OK);
            REQUIRE(send(*both.back, i) == UCS_OK);
        }
        REQUIRE(both.back->flush(&back_flushed) == UCS_INPROGRESS);
        both.there.reset();
        both.finish();
        CHECK(numbers(both.b) == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
        CHECK(both.b.failures == std::vector{UCS_ERR_NOT_CONNECTED});
        CHECK(back_flushed.times == 1);
        CHECK(send(*both.back, 7) == UCS_ERR_NOT_CONNECTED);
        CHECK(both.a.inbox.size() <= 6);
        CHECK(both.a.failures.empty());
    }
}

TEST_CASE(
    "sim pairs: an endpoint destroyed before its connection is noticed only by messages to it") {
    network both(5);
    REQUIRE(both.connect_b() == UCS_OK);
    both.there.reset();
    both.let_run(give_up_time(both.net));
    CHECK(both.b.failures.empty());
    REQUIRE(send(*both.back, 1) == UCS_OK);
    both.let_run(give_up_time(both.net));
    CHECK(both.b.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
}

TEST_CASE("sim pairs: an endpoint may be its own partner, even with broken paths to others") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        network both(seed, {.paired = {.dead_path = 1}});
        auto loop = both.a.connect(both.a);
        REQUIRE(loop->connect_to(connection_of(both.a, *loop)) == UCS_OK);
        for (std::uint64_t i = 0; i < 3; ++i)
            REQUIRE(send(*loop, i) == UCS_OK);
        both.finish();
        CHECK(numbers(both.a) == std::vector<std::uint64_t>{0, 1, 2});
        REQUIRE(send(*loop, 3) == UCS_OK);
        loop.reset();
        both.finish();
        CHECK(both.a.inbox.size() <= 4);
        CHECK(both.a.failures.empty());
    }
}

TEST_CASE(
    "sim pairs: malformed connection data is refused, and foreign data leads to no connection") {
    const test::every_line all_lines;
    network both(6);
    const test::log_capture log;
    const bytes good = connection_of(both.b, *both.back);
    for (std::size_t length = 0; length < good.size(); ++length)
        CHECK(both.there->connect_to(std::span(good).first(length)) == UCS_ERR_INVALID_ADDR);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        bytes wrong = good;
        wrong[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        CHECK(both.there->connect_to(wrong) == UCS_ERR_INVALID_ADDR);
    }
    CHECK(log.count("is malformed") == good.size() * 9);
    CHECK(send(*both.there, 1) == UCS_ERR_NO_RESOURCE);
    // Connection data of an endpoint that has another partner.
    both.connect();
    CHECK(both.connect_a() == UCS_OK);  // again
    const auto third = both.a.connect(both.b);
    REQUIRE(third->connect_to(good) == UCS_OK);
    REQUIRE(send(*third, 2) == UCS_OK);
    REQUIRE(send(*both.there, 3) == UCS_OK);
    both.let_run(give_up_time(both.net));
    CHECK(numbers(both.b) == std::vector<std::uint64_t>{3});
    CHECK(both.a.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
    CHECK(both.b.failures.empty());
}

TEST_CASE("sim pairs: endpoints on a broken path fail when they send") {
    for (const bool by_chance : {false, true}) {
        CAPTURE(by_chance);
        network both(7, {.paired = {.dead_path = by_chance ? 1.0 : 0.0}});
        if (!by_chance) both.net.break_path(1, 0);
        both.connect();
        REQUIRE(send(*both.there, 1) == UCS_OK);
        both.let_run(give_up_time(both.net));
        CHECK(both.a.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
        CHECK(both.b.failures.empty());
        CHECK(both.b.inbox.empty());
    }
}

TEST_CASE("sim pairs: creating an endpoint may fail") {
    fabric net(8, {.paired = {.creation_failure = 0.5}});
    const paired_component component(net);
    worker a(component, 1);
    unsigned made = 0;
    for (unsigned i = 0; i < 100; ++i) {
        const test::log_capture log;
        const auto one = a.try_connect(a);
        CHECK(log.count("no room") == (one ? 0U : 1U));
        if (one) {
            ++made;
        } else {
            CHECK(one.status() == UCS_ERR_NO_MEMORY);
        }
    }
    CHECK(made > 20);
    CHECK(made < 80);
}

TEST_CASE("sim pairs: the death of a worker fails the endpoints connected to it") {
    network both(9);
    auto stranger = both.a.connect(both.b);
    both.connect();
    REQUIRE(send(*both.there, 1) == UCS_OK);
    both.net.kill(2);
    both.let_run(both.net.network().detection_time + 1);
    CHECK(both.a.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
    CHECK(both.b.inbox.empty());
    // Too late.
    const auto other = both.b.connect(both.a);
    REQUIRE(stranger->connect_to(connection_of(both.b, *other)) == UCS_OK);
    both.let_run(both.net.network().detection_time + 1);
    CHECK(both.a.failures.size() == 2);
    CHECK(send(*stranger, 1) == UCS_ERR_ENDPOINT_TIMEOUT);
}

TEST_CASE("sim pairs: the same seed gives the same run") {
    const auto play = [](std::uint64_t seed) {
        parameters options{.delay_probability = 0.3, .tx_window = 4, .rx_queue = 3, .refusal = 0.1};
        network both(seed, options);
        both.connect();
        unsigned sent = 0;
        both.loop.add([&] { return sent < 50 && send(*both.there, sent) == UCS_OK ? ++sent : 0; });
        const bool done = both.loop.run_until([&] { return both.b.inbox.size() == 50; });
        INFO(both.loop.report());
        REQUIRE(done);
        return both.net.history().digest();
    };
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        CHECK(play(seed) == play(seed));
    CHECK(play(1) != play(2));
}
