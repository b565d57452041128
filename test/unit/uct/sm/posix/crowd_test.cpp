// Unit tests: while a listener cannot accept the connections in its queue, they do not keep a
// sleeping worker awake.
#include <poll.h>

#include <fstream>

#include "test/support/log_capture.hpp"
#include "test/support/slow_closing.hpp"
#include "test/support/virtual_time.hpp"
#include "test/unit/uct/sm/posix/silent_crowd.hpp"
#include "ucs/vfs/daemon_listener.hpp"
#include "ucs/vfs/names.hpp"

using namespace uct::posix::test;
using ::test::virtual_time;

namespace {

// Limit of wake-ups: a listener that cannot accept tries again ten times per second (pause_length
// of ucs/async/listener_watch.hpp), and other events cause some more.
constexpr unsigned few = 50;

// Simulates one second of a program that makes progress, arms the worker and sleeps, in steps of a
// millisecond. Returns the number of steps in which the program could not sleep.
unsigned wake_ups_in_a_second(ucs::async::event_loop& events, const std::function<void()>& progress,
                              const std::function<bool()>& arm) {
    unsigned count = 0;
    for (unsigned step = 0; step < 1000; ++step) {
        virtual_time::now += ucs::time::millisecond;
        progress();
        pollfd sleeps{events.fd(), POLLIN, 0};
        const bool is_asleep = arm() && events.arm() == UCS_OK && ::poll(&sleeps, 1, 0) == 0;
        if (!is_asleep) ++count;
    }
    return count;
}

unsigned wake_ups_in_a_second(node& sleeper) {
    return wake_ups_in_a_second(
        *sleeper.events, [&sleeper] { sleeper.progress(); },
        [&sleeper] { return sleeper.iface->arm() == UCS_OK; });
}

// Makes progress until a message has arrived at `to`. Returns false if none arrives.
bool is_reached(node& from, node& to) {
    return until({&from, &to}, [&] {
        virtual_time::now += ucs::time::millisecond;
        return to.inbox.size() == 1;
    });
}

}  // namespace

TEST_CASE("posix: a sleeping worker sleeps while too many sockets wait to be closed", "[posix]") {
    const virtual_time clock;
    const ::test::log_capture log;
    node a;
    node b(ucs::config::source::empty(), true);
    const auto ep = a.connect(b.address());
    {
        const ::test::full_closing_pool pool;
        REQUIRE(send(*ep, 1, 7, "") == UCS_OK);
        CHECK(wake_ups_in_a_second(b) < few);
        CHECK(log.count("local sockets wait to be closed") == 1);
        CHECK(b.inbox.empty());
    }
    CHECK(is_reached(a, b));
}

TEST_CASE("posix: a sleeping worker sleeps while senders of this user are silent", "[posix]") {
    const virtual_time clock;
    const ::test::log_capture log;
    node b(ucs::config::source::empty(), true);
    silent_crowd crowd(b, 600);
    for (int turn = 0; turn < 1000; ++turn)
        b.progress();
    CHECK(wake_ups_in_a_second(b) < few);
    CHECK(log.count("have not introduced themselves yet, the last one that of pid " +
                    std::to_string(crowd.pid())) == 1);
    crowd.end();
    // The silent connections are gone, so the worker accepts a new one at once.
    node a;
    const auto ep = a.connect(b.address());
    REQUIRE(send(*ep, 1, 7, "") == UCS_OK);
    CHECK(is_reached(a, b));
}

TEST_CASE("ucx_vfs's callers do not keep a sleeping worker awake while they cannot be let in") {
    const virtual_time clock;
    ucs::config::source options = ucs::config::source::empty();
    const std::string key = "crowd_test " + std::to_string(::getpid());
    options.set("VFS_SOCK_PATH", key);
    const auto events = std::move(*ucs::async::event_loop::create());
    const auto daemon_listener = ucs::vfs::daemon_listener::open(*events, options);
    REQUIRE(daemon_listener != nullptr);
    const std::string prefix = "@" + ucs::vfs::name_prefix(::geteuid(), key);
    std::string name;
    std::ifstream list("/proc/net/unix");
    for (std::string word; name.empty() && list >> word;)
        if (word.starts_with(prefix)) name = word.substr(1);
    REQUIRE_FALSE(name.empty());
    const ::test::full_closing_pool pool;
    const ucs::unique_fd caller = ucs::vfs::connect_to(name);
    REQUIRE(caller);
    CHECK(wake_ups_in_a_second(
              *events, [&] { events->poll(0); }, [] { return true; }) < few);
}
