#include "ucs/async/event_loop.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <thread>

#include "test/support/log_capture.hpp"
#include "test/support/socket_pair.hpp"
#include "test/support/virtual_time.hpp"
#include "ucs/async/eventfd.hpp"

using test::virtual_time;
using ucs::async::event_loop;

namespace {

struct socket_pair : test::socket_pair {
    socket_pair() : test::socket_pair(SOCK_STREAM) {}
    void send() const { REQUIRE(::write(far.get(), "x", 1) == 1); }
    void receive() const {
        char byte = 0;
        REQUIRE(::read(near.get(), &byte, 1) == 1);
    }
};

std::unique_ptr<event_loop> make_loop() {
    auto made = event_loop::create();
    REQUIRE(made);
    return std::move(*made);
}

// Lets so much time pass, and polls.
unsigned poll_after(event_loop& loop, ucs::time::nanoseconds time) {
    virtual_time::now += time;
    return loop.poll(0);
}

}  // namespace

TEST_CASE("a readable descriptor calls its handler until it is read") {
    const auto loop = make_loop();
    const socket_pair pair;
    unsigned calls = 0;
    REQUIRE(loop->add(pair.near.get(), EPOLLIN, [&](std::uint32_t events) {
        CHECK((events & EPOLLIN) != 0);
        ++calls;
    }) == UCS_OK);
    CHECK(loop->size() == 1);
    CHECK(loop->poll(0) == 0);
    pair.send();
    CHECK(loop->poll(-1) == 1);
    CHECK(loop->poll(0) == 1);
    pair.receive();
    CHECK(loop->poll(0) == 0);
    CHECK(calls == 2);
    REQUIRE(loop->modify(pair.near.get(), EPOLLOUT) == UCS_OK);
    pair.send();
    loop->remove(pair.near.get());
    loop->remove(pair.near.get());
    CHECK(loop->poll(0) == 0);
    CHECK(loop->size() == 0);
}

TEST_CASE("a handler may remove its own and every other descriptor") {
    const auto loop = make_loop();
    const socket_pair pairs[3];
    unsigned calls = 0;
    for (const socket_pair& pair : pairs) {
        pair.send();
        // The text in the handler would be freed if the handler were destroyed while it runs.
        const std::string text(100, 'x');
        REQUIRE(loop->add(pair.near.get(), EPOLLIN, [&, text](std::uint32_t) {
            for (const socket_pair& each : pairs)
                loop->remove(each.near.get());
            ++calls;
            CHECK(text.size() == 100);
        }) == UCS_OK);
    }
    CHECK(loop->poll(0) == 1);
    CHECK(calls == 1);
    CHECK(loop->size() == 0);
}

TEST_CASE("an event of a closed descriptor does not reach a new descriptor with the same number") {
    const auto loop = make_loop();
    socket_pair first;
    socket_pair second;
    unsigned wrong = 0;
    ucs::unique_fd reused;
    const int number = second.near.get();
    // The handler that runs first replaces the other descriptor, whose event is already fetched.
    const auto replace = [&](socket_pair& other) {
        return [&](std::uint32_t) {
            const int fd = other.near.get();
            loop->remove(fd);
            ucs::unique_fd fresh(::dup2(first.far.get(), fd));
            (void)other.near.release();
            reused = std::move(fresh);
            REQUIRE(loop->add(fd, EPOLLIN, [&](std::uint32_t) { ++wrong; }) == UCS_OK);
        };
    };
    first.send();
    second.send();
    REQUIRE(loop->add(first.near.get(), EPOLLIN, replace(second)) == UCS_OK);
    REQUIRE(loop->add(number, EPOLLIN, replace(first)) == UCS_OK);
    CHECK(loop->poll(0) == 1);
    CHECK(wrong == 0);
}

TEST_CASE("wrong descriptors are refused with a message") {
    const auto loop = make_loop();
    const socket_pair pair;
    test::log_capture captured;
    CHECK(loop->add(-1, EPOLLIN, [](std::uint32_t) {}) == UCS_ERR_INVALID_PARAM);
    CHECK(loop->modify(pair.near.get(), EPOLLIN) == UCS_ERR_NO_ELEM);
    REQUIRE(loop->add(pair.near.get(), EPOLLIN, [](std::uint32_t) {}) == UCS_OK);
    CHECK(loop->add(pair.near.get(), EPOLLIN, [](std::uint32_t) {}) == UCS_ERR_ALREADY_EXISTS);
    CHECK(captured.count("epoll_ctl", ucs::log::level::error) == 2);
    CHECK(loop->size() == 1);
}

TEST_CASE("timers run when due, in order, and not before") {
    const virtual_time clock;
    const auto loop = make_loop();
    std::string log;
    loop->add_timer(100, [&] { log += 'a'; });
    loop->add_timer(
        50, [&] { log += 'b'; }, true);
    CHECK(poll_after(*loop, 49) == 0);
    CHECK(poll_after(*loop, 1) == 1);
    CHECK(poll_after(*loop, 50) == 1);
    CHECK(poll_after(*loop, 99) == 0);
    CHECK(poll_after(*loop, 1) == 1);
    CHECK(log == "baa");
}

TEST_CASE("a timer may remove itself, others and add new ones") {
    const virtual_time clock;
    const auto loop = make_loop();
    std::string log;
    event_loop::timer_id first = 0;
    event_loop::timer_id second = 0;
    first = loop->add_timer(10, [&] {
        log += 'a';
        loop->remove_timer(first);
        loop->remove_timer(second);
        loop->add_timer(
            10, [&] { log += 'c'; }, true);
    });
    second = loop->add_timer(10, [&] { log += 'b'; });
    CHECK(poll_after(*loop, 10) == 1);
    CHECK(poll_after(*loop, 10) == 1);
    CHECK(poll_after(*loop, 1000) == 0);
    CHECK(log == "ac");
}

TEST_CASE("an interval of zero runs once per poll") {
    const virtual_time clock;
    const auto loop = make_loop();
    unsigned calls = 0;
    loop->add_timer(0, [&] { ++calls; });
    CHECK(loop->poll(0) == 1);
    CHECK(loop->poll(0) == 1);
    CHECK(calls == 2);
}

TEST_CASE("a waiting poll ends when a timer is due, though nothing else happens") {
    const auto loop = make_loop();
    bool ran = false;
    loop->add_timer(
        2 * ucs::time::millisecond, [&] { ran = true; }, true);
    while (!ran)
        loop->poll(-1);
    CHECK(ran);
}

TEST_CASE("wake ends a poll that waits without limit") {
    const auto loop = make_loop();
    std::thread waker([&] { loop->wake(); });
    CHECK(loop->poll(-1) == 0);
    waker.join();
}

TEST_CASE("the wake handler runs in poll, once for any number of wakes") {
    const auto loop = make_loop();
    unsigned calls = 0;
    loop->set_wake_handler([&] { ++calls; });
    CHECK(loop->poll(0) == 0);
    CHECK(calls == 0);
    loop->wake();
    loop->wake();
    CHECK(loop->poll(0) == 0);  // nothing that the owner's work depends on
    CHECK(calls == 1);
    CHECK(loop->poll(0) == 0);
    CHECK(calls == 1);
}

TEST_CASE("the loop's descriptor is readable when a handler would be called") {
    const auto outer = make_loop();
    const auto inner = make_loop();
    const socket_pair pair;
    unsigned calls = 0;
    REQUIRE(inner->add(pair.near.get(), EPOLLIN, [&](std::uint32_t) {
        pair.receive();
        ++calls;
    }) == UCS_OK);
    REQUIRE(outer->add(inner->fd(), EPOLLIN, [&](std::uint32_t) { inner->poll(0); }) == UCS_OK);
    CHECK(outer->poll(0) == 0);
    pair.send();
    CHECK(outer->poll(0) == 1);
    CHECK(outer->poll(0) == 0);
    CHECK(calls == 1);
}

TEST_CASE("an eventfd is signalled until drained") {
    auto event = ucs::async::eventfd::create();
    REQUIRE(event);
    CHECK_FALSE(event->drain());
    event->signal();
    event->signal();
    CHECK(event->drain());
    CHECK_FALSE(event->drain());
}

namespace {
bool readable(int fd, int timeout_ms = 0) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
}
}  // namespace

TEST_CASE(
    "arm() refuses while there is something to poll, later events make the descriptor readable") {
    const auto loop = make_loop();
    const socket_pair pair;
    REQUIRE(loop->add(pair.near.get(), EPOLLIN, [&](std::uint32_t) { pair.receive(); }) == UCS_OK);
    CHECK(loop->arm() == UCS_OK);
    CHECK_FALSE(readable(loop->fd()));
    pair.send();
    CHECK(readable(loop->fd()));
    CHECK(loop->arm() == UCS_ERR_BUSY);
    CHECK(loop->poll(0) == 1);
    CHECK(loop->arm() == UCS_OK);
    loop->wake();
    CHECK(readable(loop->fd()));
    CHECK(loop->arm() == UCS_ERR_BUSY);
    loop->poll(0);
    CHECK_FALSE(readable(loop->fd()));
    CHECK(loop->arm() == UCS_OK);
}

TEST_CASE("a due timer makes the descriptor of an armed loop readable") {
    const auto loop = make_loop();
    unsigned calls = 0;
    loop->add_timer(
        1'000'000, [&] { ++calls; }, true);
    SECTION("a timer added before arming") {
        // If the machine is slow, the timer is due already and arm() refuses.
        if (loop->arm() == UCS_OK) CHECK(readable(loop->fd(), 10'000));
    }
    SECTION("a timer added after arming") {
        loop->poll(2);
        while (calls == 0)
            loop->poll(2);
        REQUIRE(loop->arm() == UCS_OK);
        loop->add_timer(
            1000, [&] { ++calls; }, true);
        CHECK(readable(loop->fd(), 10'000));
        --calls;
    }
    while (calls == 0)
        loop->poll(10);
    CHECK(calls == 1);
    loop->poll(0);
    CHECK_FALSE(readable(loop->fd()));
    CHECK(loop->arm() == UCS_OK);
}

TEST_CASE("a timer that is due refuses arming") {
    const virtual_time time;
    const auto loop = make_loop();
    loop->add_timer(
        10, [] {}, true);
    virtual_time::now += 10;
    CHECK(loop->arm() == UCS_ERR_BUSY);
    CHECK(loop->poll(0) == 1);
    CHECK(loop->arm() == UCS_OK);
}

TEST_CASE("latch_wake() lasts until release_wake(), whichever thread polls") {
    const auto loop = make_loop();
    unsigned wakes = 0;
    loop->set_wake_handler([&] { ++wakes; });
    REQUIRE(loop->arm() == UCS_OK);
    loop->latch_wake();
    for (unsigned i = 0; i < 3; ++i) {
        CHECK(loop->poll(0) == 0);
        CHECK(readable(loop->fd()));
    }
    CHECK(loop->arm() == UCS_ERR_BUSY);  // heard
    SECTION("it ends with the next poll") {
        loop->poll(0);
        CHECK_FALSE(readable(loop->fd()));
        CHECK(loop->arm() == UCS_OK);
    }
    SECTION("it can be repeated") {
        loop->latch_wake();
        loop->poll(0);
        CHECK(readable(loop->fd()));
    }
    CHECK(wakes == 0);
}

TEST_CASE("wake() works while latch_wake() is pending") {
    const auto loop = make_loop();
    unsigned wakes = 0;
    loop->set_wake_handler([&] { ++wakes; });
    loop->latch_wake();
    loop->wake();
    loop->poll(0);
    loop->poll(0);
    CHECK(wakes == 1);
    CHECK(readable(loop->fd()));
}

TEST_CASE("a thread that sleeps while another thread polls still sees timers") {
    const auto loop = make_loop();
    REQUIRE(loop->arm() == UCS_OK);
    loop->poll(0);  // the other thread
    SECTION("new timers") {
        loop->add_timer(
            1000, [] {}, true);
        CHECK(readable(loop->fd(), 10'000));
    }
    SECTION("the next time of timers that the other thread ran") {
        unsigned calls = 0;
        loop->add_timer(1'000'000, [&] { ++calls; });
        while (calls < 2)
            loop->poll(10);
        CHECK(readable(loop->fd(), 10'000));
    }
}
