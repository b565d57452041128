#include "ucs/async/listener_watch.hpp"

#include "test/support/socket_pair.hpp"
#include "test/support/virtual_time.hpp"

using test::virtual_time;
using namespace ucs::async;

namespace {

// A watched socket that stays readable because its data is never read.
struct watched_listener {
    explicit watched_listener(bool owner_pauses) : pauses(owner_pauses) {
        REQUIRE(::send(ends.far.get(), "x", 1, 0) == 1);
        REQUIRE(watch.start({ends.near.get()}) == UCS_OK);
    }
    unsigned calls_in(unsigned polls) {
        const unsigned before = calls;
        for (unsigned i = 0; i < polls; ++i)
            events->poll(0);
        return calls - before;
    }
    // Counts the calls in a second, in steps of a millisecond.
    unsigned calls_in_a_second() {
        const unsigned before = calls;
        for (int i = 0; i < 1000; ++i) {
            virtual_time::now += ucs::time::millisecond;
            events->poll(0);
        }
        return calls - before;
    }

    const virtual_time clock;
    const bool pauses;
    unsigned calls = 0;
    std::unique_ptr<event_loop> events = std::move(*event_loop::create());
    test::socket_pair ends{SOCK_STREAM};
    listener_watch watch{*events, [this](int fd) {
                             CHECK(fd == ends.near.get());
                             ++calls;
                             if (pauses) watch.pause();
                         }};
};

}  // namespace

TEST_CASE("a listener whose owner pauses keeps its event loop no busier than ten times a second") {
    watched_listener watched(true);
    CHECK(watched.calls_in(100) == 1);
    CHECK(watched.events->arm() == UCS_OK);
    const unsigned calls = watched.calls_in_a_second();
    CHECK(calls >= 8);
    CHECK(calls <= 10);
}

TEST_CASE("a pause ends early when the owner can accept again, and when the watch ends") {
    watched_listener watched(true);
    CHECK(watched.calls_in(10) == 1);
    watched.watch.resume();
    CHECK(watched.calls_in(10) == 1);
    watched.watch.stop();
    CHECK(watched.calls_in_a_second() == 0);
    CHECK(watched.events->size() == 0);
}

TEST_CASE("a held watch makes no calls until it is released, and then only after a pause") {
    watched_listener watched(true);
    watched.watch.hold(true);
    CHECK(watched.calls_in_a_second() == 0);
    watched.watch.hold(false);
    CHECK(watched.calls_in(10) == 1);
    watched.watch.hold(true);
    watched.watch.hold(false);
    CHECK(watched.calls_in(10) == 0);
    watched.watch.hold(true);
    CHECK(watched.calls_in_a_second() == 0);
    watched.watch.hold(false);
    CHECK(watched.calls_in(10) == 1);
}

TEST_CASE("an owner that does not pause is called while the listener is readable") {
    watched_listener watched(false);
    CHECK(watched.calls_in(10) == 10);
}
