// Several threads on one worker.
#include <sched.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

world_options in_mode(ucs_thread_mode_t mode) {
    world_options options;
    options.threads = mode;
    return options;
}

// Sends and receives `count` messages with the thread's own tag. Returns the number of failures.
int traffic(const world& in, unsigned thread, int count) {
    static const std::size_t sizes[] = {8, 300, 20000, 0, 200000};
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        const std::size_t length = sizes[static_cast<std::size_t>(i) % std::size(sizes)];
        const auto data = pattern(length, thread * 1000 + static_cast<unsigned>(i));
        std::vector<std::byte> into(length);
        const auto recv =
            ucp_tag_recv_nbx(in.receiver, into.data(), length, thread, all_bits, &none);
        const auto send = ucp_tag_send_nbx(in.ep, data.data(), length, thread, &none);
        wrong += in.count_failure(send);
        wrong += in.count_failure(recv);
        wrong += into == data ? 0 : 1;
    }
    return wrong;
}

}  // namespace

TEST_CASE("a worker has the requested thread mode") {
    const ucs_thread_mode_t mode =
        GENERATE(UCS_THREAD_MODE_SINGLE, UCS_THREAD_MODE_SERIALIZED, UCS_THREAD_MODE_MULTI);
    const world in(in_mode(mode));
    CHECK(attributes_of(in.sender, UCP_WORKER_ATTR_FIELD_THREAD_MODE).thread_mode == mode);
}

TEST_CASE("four threads send and receive on one worker in mode MULTI") {
    const world in(in_mode(UCS_THREAD_MODE_MULTI));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
        threads.emplace_back([&, i] { wrong += traffic(in, i, 200); });
    for (std::thread& each : threads)
        each.join();
    CHECK(wrong == 0);
}

TEST_CASE("threads take turns on one worker in mode SERIALIZED") {
    const world in(in_mode(UCS_THREAD_MODE_SERIALIZED));
    std::mutex turn;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 20; ++round) {
                const std::lock_guard lock(turn);
                wrong += traffic(in, i, 5);
            }
        });
    }
    for (std::thread& each : threads)
        each.join();
    CHECK(wrong == 0);
}

TEST_CASE("one thread may wait for a request that another completes") {
    const world in(in_mode(UCS_THREAD_MODE_MULTI));
    std::atomic<bool> stop{false};
    std::thread progress([&] {
        while (!stop) {
            in.progress();
            ::sched_yield();
        }
    });
    int wrong = 0;
    for (int i = 0; i < 300; ++i) {
        const auto data = pattern(100 + static_cast<std::size_t>(i) * 50, 1);
        std::vector<std::byte> into(data.size());
        void* recv = ucp_tag_recv_nbx(in.receiver, into.data(), into.size(), 1, all_bits, &none);
        const auto send = ucp_tag_send_nbx(in.ep, data.data(), data.size(), 1, &none);
        ucp_tag_recv_info_t info{};
        while (ucp_request_test(recv, &info) == UCS_INPROGRESS)
            ::sched_yield();
        wrong += into == data && info.length == data.size() ? 0 : 1;
        ucp_request_free(recv);
        if (UCS_PTR_IS_PTR(send)) {
            while (ucp_request_is_completed(send) == 0)
                ::sched_yield();
            ucp_request_free(send);
        }
    }
    stop = true;
    progress.join();
    CHECK(wrong == 0);
}
