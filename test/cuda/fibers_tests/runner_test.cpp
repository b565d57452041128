// The fiber runner gives right results for right kernels, and finds the mistakes of wrong ones.
#include "test/cuda/fibers/runner.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ucg/cuda/kernels/portable.cuh"

using namespace ucg::cuda::kernels;

namespace {

constexpr unsigned threads = 64;
constexpr std::uint64_t seeds = 40;

// Each thread writes a number into shared memory and reads that of its right neighbour.
void read_neighbour(std::vector<std::uint32_t>& results, bool with_barrier) {
    auto* const numbers = reinterpret_cast<std::uint32_t*>(shared_memory());
    const unsigned thread = thread_index();
    numbers[thread] = thread * thread;
    if (with_barrier) block_barrier();
    const unsigned neighbour = (thread + 1) % thread_count();
    results[block_index() * thread_count() + thread] = numbers[neighbour];
}

// Returns how many seeds give wrong results.
unsigned wrong_seeds(bool with_barrier) {
    unsigned wrong = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        std::vector<std::uint32_t> results(std::size_t{3} * threads);
        const auto failure = fibers::run(
            {.blocks = 3, .threads = threads, .shared_bytes = threads * 4, .seed = seed},
            [&] { read_neighbour(results, with_barrier); });
        REQUIRE(failure == std::nullopt);
        for (unsigned i = 0; i < results.size(); ++i) {
            const unsigned neighbour = (i % threads + 1) % threads;
            if (results[i] != neighbour * neighbour) {
                wrong += 1;
                break;
            }
        }
    }
    return wrong;
}

std::string failure_of(const fibers::launch& shape, const std::function<void()>& kernel) {
    return fibers::run(shape, kernel).value_or("none");
}

// The sum of a warp by shuffles of decreasing distance.
std::uint32_t sum_of_warp(std::uint32_t value) {
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
        value += warp_shuffle(value, lane_index() + distance);
    return warp_shuffle(value, 0);
}

// Thread 0 of block 0 writes a number and posts a flag, for which the threads of block 1 wait.
struct mailbox {
    std::uint64_t number = 0;
    std::uint64_t flag = 0;
};
void pass_number(mailbox& box, bool flag_first, std::vector<std::uint64_t>& received) {
    if (block_index() == 0) {
        if (thread_index() != 0) return;
        if (flag_first) store_release(&box.flag, 1);
        __atomic_store_n(&box.number, 42, __ATOMIC_RELAXED);
        if (!flag_first) store_release(&box.flag, 1);
        return;
    }
    for (unsigned turns = 0; load_acquire(&box.flag) == 0; ++turns)
        spin_pause(turns);
    received[thread_index()] = __atomic_load_n(&box.number, __ATOMIC_RELAXED);
}

bool arrives_under_all_seeds(bool flag_first) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        mailbox box;
        std::vector<std::uint64_t> received(threads);
        const auto failure =
            fibers::run({.blocks = 2, .threads = threads, .seed = seed, .workers = 1},
                        [&] { pass_number(box, flag_first, received); });
        REQUIRE(failure == std::nullopt);
        if (received != std::vector<std::uint64_t>(threads, 42)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("every thread of a launch runs once, with its indices") {
    std::vector<unsigned> runs(5 * 48);
    const auto failure = fibers::run({.blocks = 5, .threads = 48}, [&] {
        CHECK(block_count() == 5);
        CHECK(thread_count() == 48);
        runs[block_index() * 48 + thread_index()] += 1;
    });
    CHECK(failure == std::nullopt);
    CHECK(runs == std::vector<unsigned>(5 * 48, 1));
    CHECK(failure_of({.blocks = 0}, [] {}) == "none");
}

TEST_CASE("a missing barrier gives wrong results under some seed") {
    CHECK(wrong_seeds(true) == 0);
    CHECK(wrong_seeds(false) > 0);
}

TEST_CASE("a barrier that not all threads reach is a failure") {
    const std::string text = failure_of({.blocks = 2, .threads = threads}, [] {
        if (block_index() == 0 || thread_index() != 7) block_barrier();
    });
    CHECK(
        text ==
        "a barrier is not reached by all threads; block 1: 1 of 64 threads have ended, 63 wait in "
        "block_barrier");
}

TEST_CASE("threads that wait in different operations are a failure") {
    CHECK_THAT(failure_of({.threads = threads},
                          [] {
                              if (thread_index() < 10)
                                  block_barrier();
                              else
                                  static_cast<void>(block_any(true));
                          }),
               Catch::Contains("while block 0, thread 10 is in block_any"));
    CHECK_THAT(failure_of({.threads = threads},
                          [] {
                              if (lane_index() == 31)
                                  warp_barrier();
                              else
                                  static_cast<void>(warp_ballot(true));
                          }),
               Catch::Contains("is in warp_barrier"));
}

TEST_CASE("votes and shuffles give their results to every thread") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        std::vector<std::uint32_t> sums(threads), ballots(threads);
        std::vector<bool> any(threads), all(threads), some(threads);
        const auto failure = fibers::run({.threads = threads, .seed = seed, .workers = 1}, [&] {
            const unsigned thread = thread_index();
            sums[thread] = sum_of_warp(thread);
            ballots[thread] = warp_ballot(thread % 2 == 0);
            any[thread] = block_any(thread == 40);
            all[thread] = warp_all(thread < 32);
            some[thread] = warp_any(thread == 40);
        });
        REQUIRE(failure == std::nullopt);
        for (unsigned thread = 0; thread < threads; ++thread) {
            CHECK(sums[thread] == (thread < 32 ? 31U * 32 / 2 : 31U * 32 / 2 + 32U * 32));
            CHECK(ballots[thread] == 0x55555555U);
            CHECK(any[thread]);
            CHECK(all[thread] == (thread < 32));
            CHECK(some[thread] == (thread >= 32));
        }
    }
}

TEST_CASE("a wrong shuffle is a failure") {
    SECTION("not all lanes of the warp take part") {
        const std::string text = failure_of({.threads = 32}, [] {
            if (lane_index() < 16) static_cast<void>(warp_shuffle(1U, 0));
        });
        CHECK(text ==
              "a barrier is not reached by all threads; block 0: 16 of 32 threads have ended, 16 "
              "wait "
              "in warp_shuffle");
    }
    SECTION("the lane does not exist") {
        CHECK_THAT(failure_of({.threads = 40}, [] { static_cast<void>(warp_shuffle(1U, 20)); }),
                   Catch::Contains("reads lane 20 of a warp with 8 threads"));
    }
}

TEST_CASE("a flag that is posted before its data gives wrong results under some seed") {
    CHECK(arrives_under_all_seeds(false));
    CHECK_FALSE(arrives_under_all_seeds(true));
}

TEST_CASE("a flag that is never posted is a failure after the limit") {
    std::uint64_t flag = 0;
    const std::string text =
        failure_of({.threads = 32, .limit = std::chrono::milliseconds(20)}, [&] {
            for (unsigned turns = 0; load_acquire(&flag) == 0; ++turns)
                spin_pause(turns);
        });
    CHECK(text == "the launch did not end in time; block 0: 0 of 32 threads have ended, 32 run");
}

TEST_CASE("an exception of the kernel is a failure") {
    CHECK(failure_of({.blocks = 4, .threads = 32}, [] {
              if (block_index() == 3 && thread_index() == 3)
                  throw std::runtime_error("out of range");
              block_barrier();
          }) == "the kernel threw: out of range");
}
