// Unit tests of the simulation's own features: reproducible runs, failures on command, detection of
// its users' mistakes.
#include <sys/mman.h>

#include <algorithm>

#include "test/support/log_capture.hpp"
#include "test/unit/uct/sim/fixture.hpp"
#include "uct/sim/driver.hpp"

namespace {

using namespace sim_fixture;
using namespace uct::sim;

parameters rough() {
    return {.delay_probability = 0.3,
            .max_connect_time = 5000,
            .tx_window = 4,
            .rx_queue = 3,
            .refusal = 0.1};
}

// Two workers on a network, and a loop that progresses them.
struct two_workers {
    two_workers() {
        for (worker* each : {&a, &b})
            loop.add([each] { return each->iface->progress(); });
    }
    fabric network{3};
    worker a{network, 1};
    worker b{network, 2};
    uct::sim::driver loop{network};
};

// Sends 50 messages in each direction and returns the digest of the trace.
std::uint64_t play(std::uint64_t seed) {
    fabric network(seed, rough());
    worker a(network, 1);
    worker b(network, 2);
    const auto there = a.connect(b);
    const auto back = b.connect(a);
    uct::sim::driver loop(network);
    unsigned sent_a = 0;
    unsigned sent_b = 0;
    loop.add([&] {
        if (sent_a < 50 && there->am_short(0, sent_a, "xyz", 3) == UCS_OK) ++sent_a;
        return a.iface->progress();
    });
    loop.add([&] {
        if (sent_b < 50 && back->am_short(0, sent_b, nullptr, 0) == UCS_OK) ++sent_b;
        return b.iface->progress();
    });
    const bool done = loop.run_until([&] { return a.inbox.size() == 50 && b.inbox.size() == 50; });
    INFO(loop.report());
    REQUIRE(done);
    return network.history().digest();
}

}  // namespace

TEST_CASE("sim: the same seed gives the same run, another seed another one") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        CHECK(play(seed) == play(seed));
    CHECK(play(1) != play(2));
}

TEST_CASE("sim: its clock is the clock of the library while it lives, also nested") {
    const ucs::time::nanoseconds real = ucs::time::now();
    {
        fabric outer(1);
        outer.advance(12345);
        CHECK(ucs::time::now() == outer.now());
        {
            fabric inner(2);
            inner.advance(999'000);
            CHECK(ucs::time::now() == inner.now());
        }
        CHECK(ucs::time::now() == outer.now());
    }
    CHECK(ucs::time::now() >= real);
}

TEST_CASE_METHOD(two_workers,
                 "sim: a zcopy reads its payload when it is transferred, not when it is posted") {
    counting_completion done;
    std::string text = "early";
    const auto via = a.connect(b);
    const uct::iov piece{text.data(), text.size()};
    REQUIRE(via->am_zcopy(0, {}, {&piece, 1}, &done) == UCS_INPROGRESS);
    text = "later";
    REQUIRE(loop.run_until([&] { return done.times == 1 && b.inbox.size() == 1; }));
    CHECK(b.inbox.front() == "later");
}

TEST_CASE("sim: an endpoint fails at the operation that a test names") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        fabric network(seed, {.both_ways = false});
        worker a(network, 1);
        worker b(network, 2);
        const auto there = a.connect(b);
        const auto back = b.connect(a);
        network.fail_at_operation(0, 1, 3);
        uct::sim::driver loop(network);
        loop.add([&] { return a.iface->progress(); });
        loop.add([&] { return b.iface->progress(); });
        REQUIRE(there->am_short(0, 1, nullptr, 0) == UCS_OK);
        REQUIRE(there->am_short(0, 2, nullptr, 0) == UCS_OK);
        const ucs_status_t third = there->am_short(0, 3, nullptr, 0);
        CHECK((third == UCS_OK || third == UCS_ERR_ENDPOINT_TIMEOUT));
        REQUIRE(loop.run_until([&] { return !a.failures.empty(); }));
        CHECK(there->am_short(0, 4, nullptr, 0) == UCS_ERR_ENDPOINT_TIMEOUT);
        REQUIRE(loop.run_until_quiet());
        CHECK(a.failures.size() == 1);
        CHECK(b.failures.empty());
        CHECK(b.inbox.size() <= 3);
        CHECK(back->am_short(0, 5, nullptr, 0) == UCS_OK);
    }
}

TEST_CASE_METHOD(two_workers,
                 "sim: a delayed failure affects both directions and ends each operation once") {
    counting_completion done;
    counting_completion flushed;
    std::string text(60000, 'x');
    const auto there = a.connect(b);
    const auto back = b.connect(a);
    const uct::iov piece{text.data(), text.size()};
    network.fail_after(0, 1, 10);
    REQUIRE(there->am_zcopy(0, {}, {&piece, 1}, &done) == UCS_INPROGRESS);
    REQUIRE(there->flush(&flushed) == UCS_INPROGRESS);
    REQUIRE(loop.run_until_quiet());
    CHECK(done.times == 1);
    CHECK(done.status == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(flushed.times == 1);
    CHECK(flushed.status == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(a.failures.size() == 1);
    CHECK(b.failures.size() == 1);
}

TEST_CASE_METHOD(two_workers,
                 "sim: a worker dies and its peers are notified after the detection time") {
    const auto there = a.connect(b);
    const auto back = b.connect(a);
    CHECK(network.find_node(2) == uct::sim::node_id{1});
    network.kill_after(2, 1000);
    network.advance(2000);
    CHECK(back->am_short(0, 1, nullptr, 0) == UCS_ERR_CONNECTION_RESET);
    CHECK(b.iface->progress() == 0);
    CHECK(there->am_short(0, 1, nullptr, 0) == UCS_OK);
    CHECK(a.failures.empty());
    network.advance(network.network().detection_time);
    static_cast<void>(a.iface->progress());
    CHECK(a.failures.size() == 1);
    CHECK(there->am_short(0, 1, nullptr, 0) == UCS_ERR_CONNECTION_RESET);
    CHECK(b.inbox.empty());
}

TEST_CASE("sim: messages lost with their link do not hold back those of other links") {
    // Regression test. Lost messages kept their slots in the receiver's queue, and no other link
    // could use them.
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        fabric network(seed, {.rx_queue = 1});
        worker a(network, 1);
        worker b(network, 2);
        worker c(network, 3);
        const auto broken = a.connect(c);
        const auto whole = b.connect(c);
        for (unsigned i = 0; i < 3; ++i) {
            REQUIRE(broken->am_short(0, i, "a", 1) == UCS_OK);
            REQUIRE(whole->am_short(0, i, "b", 1) == UCS_OK);
        }
        network.advance(100'000);
        network.fail_after(0, 2, 10);
        network.advance(1000);
        uct::sim::driver loop(network);
        for (worker* each : {&a, &b, &c})
            loop.add([each] { return each->iface->progress(); });
        REQUIRE(loop.run_until_quiet());
        CHECK(std::count_if(c.inbox.begin(), c.inbox.end(),
                            [](const std::string& m) { return m.back() == 'b'; }) == 3);
    }
}

TEST_CASE_METHOD(two_workers,
                 "sim: memory of a get is not written after its endpoint is destroyed") {
    counting_completion done;
    std::uint64_t remote = 1;
    auto local = std::make_unique<std::uint64_t>(2);
    auto there = a.connect(b);
    const uct::iov piece{local.get(), sizeof *local};
    REQUIRE(there->get_zcopy({&piece, 1}, {reinterpret_cast<std::uintptr_t>(&remote)}, &done) ==
            UCS_INPROGRESS);
    there.reset();
    CHECK(done.times == 1);
    CHECK(done.status == UCS_ERR_CANCELED);
    CHECK(*local == 2);
    local.reset();
    network.advance(1'000'000);
    static_cast<void>(a.iface->progress());
    CHECK(done.times == 1);
}

TEST_CASE_METHOD(two_workers, "sim: memory that a peer reads may be unmapped") {
    const auto there = a.connect(b);
    const std::size_t page = 4096;
    void* const pages = ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    auto freed = std::make_unique<std::uint64_t>(1);
    std::uint64_t local[] = {2, 3};
    counting_completion done;
    done.count = 2;
    const uct::iov pieces[] = {{&local[0], 8}, {&local[1], 8}};
    const std::uint64_t places[] = {reinterpret_cast<std::uintptr_t>(freed.get()),
                                    reinterpret_cast<std::uintptr_t>(pages)};
    for (const int which : {0, 1})
        REQUIRE(there->get_zcopy({&pieces[which], 1}, {places[which]}, &done) == UCS_INPROGRESS);
    freed.reset();
    REQUIRE(::munmap(pages, page) == 0);
    REQUIRE(loop.run_until_quiet());
    CHECK(done.times == 1);
    CHECK(local[1] == 3);
}

TEST_CASE_METHOD(two_workers, "sim: calls beyond the limits are errors that name the call") {
    test::log_capture log;
    const auto via = a.connect(b);
    const std::string text(100'000, 'x');
    CHECK(via->am_short(0, 0, text.data(), a.iface->attr().max_short + 1) == UCS_ERR_INVALID_PARAM);
    CHECK(via->am_short(uct::am_id_count, 0, nullptr, 0) == UCS_ERR_INVALID_PARAM);
    const uct::iov piece{const_cast<char*>(text.data()), text.size()};
    counting_completion done;
    CHECK(via->am_zcopy(0, {}, {&piece, 1}, &done) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("am_short") == 2);
    CHECK(log.count("am_zcopy") == 1);
}

TEST_CASE_METHOD(two_workers, "sim: the trace shows the last events") {
    const auto via = a.connect(b);
    REQUIRE(via->am_short(0, 1, nullptr, 0) == UCS_OK);
    network.advance(1'000'000);
    static_cast<void>(b.iface->progress());
    const std::string text = network.history().text();
    for (const char* word : {"opened", "posted", "arrived", "delivered"}) {
        CAPTURE(word);
        CHECK(text.find(word) != std::string::npos);
    }
}
