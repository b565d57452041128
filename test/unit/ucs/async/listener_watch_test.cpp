#include "ucs/async/listener_watch.hpp"

#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "test/support/virtual_time.hpp"

using test::virtual_time;
using ucs::async::event_loop;
using ucs::async::listener_watch;

namespace {

// A listener that is readable because nobody takes what is there.
struct scene {
    explicit scene(bool owner_pauses) : pauses(owner_pauses) {
        int fds[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        listener = ucs::unique_fd(fds[0]);
        peer = ucs::unique_fd(fds[1]);
        REQUIRE(::send(peer.get(), "x", 1, 0) == 1);
        REQUIRE(watch.start({listener.get()}) == UCS_OK);
    }
    unsigned looks_in(unsigned polls) {
        const unsigned before = looks;
        for (unsigned i = 0; i < polls; ++i)
            events->poll(0);
        return looks - before;
    }
    // Counts over a second, in steps of a millisecond.
    unsigned looks_in_a_second() {
        const unsigned before = looks;
        for (int i = 0; i < 1000; ++i) {
            virtual_time::now += ucs::time::millisecond;
            events->poll(0);
        }
        return looks - before;
    }

    const virtual_time clock;
    const bool pauses;
    unsigned looks = 0;
    std::unique_ptr<event_loop> events = std::move(*event_loop::create());
    ucs::unique_fd listener;
    ucs::unique_fd peer;
    listener_watch watch{*events, [this](int fd) {
                             CHECK(fd == listener.get());
                             ++looks;
                             if (pauses) watch.pause();
                         }};
};

}  // namespace

TEST_CASE("a listener whose owner pauses keeps its event loop no busier than ten times a second") {
    scene of(true);
    CHECK(of.looks_in(100) == 1);
    CHECK(of.events->arm() == UCS_OK);
    const unsigned looks = of.looks_in_a_second();
    CHECK(looks >= 8);
    CHECK(looks <= 10);
}

TEST_CASE("a pause ends early when the owner has room again, and with the watch") {
    scene of(true);
    CHECK(of.looks_in(10) == 1);
    of.watch.resume();
    CHECK(of.looks_in(10) == 1);
    of.watch.stop();
    CHECK(of.looks_in_a_second() == 0);
    CHECK(of.events->size() == 0);
}

TEST_CASE("a watch that is held looks at nothing until it is let go, and then only after a pause") {
    scene of(true);
    of.watch.hold(true);
    CHECK(of.looks_in_a_second() == 0);
    of.watch.hold(false);
    CHECK(of.looks_in(10) == 1);
    of.watch.hold(true);
    of.watch.hold(false);
    CHECK(of.looks_in(10) == 0);
    of.watch.hold(true);
    CHECK(of.looks_in_a_second() == 0);
    of.watch.hold(false);
    CHECK(of.looks_in(10) == 1);
}

TEST_CASE("an owner that does not pause is called as long as there is something") {
    scene of(false);
    CHECK(of.looks_in(10) == 10);
}
