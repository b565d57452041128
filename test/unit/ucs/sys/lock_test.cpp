#include "ucs/sys/lock.hpp"

#include <catch2/catch.hpp>
#include <mutex>
#include <thread>
#include <vector>

using namespace ucs::sys;

TEST_CASE("the owner locks again, others wait") {
    recursive_lock lock;
    CHECK_FALSE(lock.is_held_by_this_thread());
    lock.lock();
    lock.lock();
    CHECK(lock.try_lock());
    CHECK(lock.is_held_by_this_thread());
    bool other = true;
    std::thread([&] { other = lock.try_lock(); }).join();
    CHECK_FALSE(other);
    lock.unlock();
    lock.unlock();
    CHECK(lock.is_held_by_this_thread());
    lock.unlock();
    CHECK_FALSE(lock.is_held_by_this_thread());
    std::thread([&] {
        other = lock.try_lock();
        lock.unlock();
    }).join();
    CHECK(other);
}

TEST_CASE("one thread at a time is inside, with more threads than cores") {
    recursive_lock lock;
    constexpr int threads = 8;
    constexpr int rounds = 5000;
    long plain = 0;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                const std::lock_guard outer(lock);
                const std::lock_guard inner(lock);
                ++plain;
            }
        });
    }
    for (std::thread& each : all)
        each.join();
    CHECK(plain == threads * rounds);
}

TEST_CASE("a thread that sleeps in lock is woken") {
    recursive_lock lock;
    std::atomic<int> entered{0};
    lock.lock();
    std::vector<std::thread> waiting;
    for (int i = 0; i < 3; ++i) {
        waiting.emplace_back([&] {
            const std::lock_guard guard(lock);
            ++entered;
        });
    }
    // Long enough for the waiters to stop spinning; the test is correct for any duration.
    for (int i = 0; i < 1000; ++i)
        std::this_thread::yield();
    CHECK(entered == 0);
    lock.unlock();
    for (std::thread& each : waiting)
        each.join();
    CHECK(entered == 3);
}

TEST_CASE("a disabled lock lets all threads in") {
    optional_lock none(false);
    const std::lock_guard guard(none);
    bool other = false;
    std::thread([&] {
        other = none.try_lock();
        none.unlock();
    }).join();
    CHECK(other);
    optional_lock wanted(true);
    const std::lock_guard held(wanted);
    std::thread([&] { other = wanted.try_lock(); }).join();
    CHECK_FALSE(other);
}
