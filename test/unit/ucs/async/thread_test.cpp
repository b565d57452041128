#include "ucs/async/thread.hpp"

#include <thread>
#include <vector>

#include "test/support/child.hpp"

using ucs::async::event_loop;

TEST_CASE("the async thread starts with the first post and ends with stop") {
    ucs::async::thread worker;
    CHECK_FALSE(worker.running());
    worker.stop();
    bool on_thread = false;
    REQUIRE(worker.run([&](event_loop&) { on_thread = worker.is_current(); }) == UCS_OK);
    CHECK(on_thread);
    CHECK(worker.running());
    CHECK_FALSE(worker.is_current());
    worker.stop();
    CHECK_FALSE(worker.running());
    REQUIRE(worker.run([](event_loop&) {}) == UCS_OK);
}

TEST_CASE("everything posted runs in order, before stop returns too") {
    ucs::async::thread worker;
    std::vector<int> seen;
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(worker.post([&seen, i](event_loop&) { seen.push_back(i); }) == UCS_OK);
    }
    worker.stop();
    REQUIRE(seen.size() == 1000);
    for (int i = 0; i < 1000; ++i)
        REQUIRE(seen[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("work may post and run work") {
    ucs::async::thread worker;
    bool inner = false;
    bool posted = false;
    REQUIRE(worker.run([&](event_loop&) {
        (void)worker.run([&](event_loop&) { inner = true; });
        (void)worker.post([&](event_loop&) { posted = true; });
    }) == UCS_OK);
    worker.stop();
    CHECK(inner);
    CHECK(posted);
}

TEST_CASE("of several concurrent first posts one starts the thread, and all run") {
    for (int round = 0; round < 20; ++round) {
        ucs::async::thread worker;
        std::atomic<int> ran{0};
        std::vector<std::thread> posters;
        for (int i = 0; i < 4; ++i) {
            posters.emplace_back([&] { (void)worker.run([&](event_loop&) { ++ran; }); });
        }
        for (std::thread& each : posters)
            each.join();
        REQUIRE(ran == 4);
    }
}

TEST_CASE("timers run on the async thread") {
    ucs::async::thread worker;
    std::atomic<bool> fired{false};
    REQUIRE(worker.post([&](event_loop& loop) {
        loop.add_timer(
            ucs::time::millisecond, [&] { fired = worker.is_current(); }, true);
    }) == UCS_OK);
    while (!fired)
        std::this_thread::yield();
    CHECK(fired);
}

TEST_CASE("signals are blocked in the async thread and nowhere else") {
    ucs::async::thread worker;
    sigset_t inside;
    sigemptyset(&inside);
    REQUIRE(worker.run([&](event_loop&) { ::pthread_sigmask(SIG_BLOCK, nullptr, &inside); }) ==
            UCS_OK);
    sigset_t outside;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &outside);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM}) {
        CHECK(sigismember(&inside, signal) == 1);
        CHECK(sigismember(&outside, signal) == 0);
    }
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer cannot start threads after a fork
TEST_CASE("a forked child gets an async thread of its own") {
    ucs::async::thread worker;
    REQUIRE(worker.run([](event_loop&) {}) == UCS_OK);
    CHECK(test::run_in_child([&] {
              bool good = !worker.running();
              bool ran = false;
              good = good && worker.run([&](event_loop&) { ran = true; }) == UCS_OK && ran;
              worker.stop();
              return good && !worker.running() ? 0 : 1;
          }) == 0);
    bool ran = false;
    REQUIRE(worker.run([&](event_loop&) { ran = true; }) == UCS_OK);
    CHECK(ran);
}
#endif
