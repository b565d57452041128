// Tests that every out-of-band exchange must pass: over TCP, over files in a folder, and over a
// board in shared memory.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "test/support/log_capture.hpp"
#include "test/support/temp_dir.hpp"
#include "test/unit/ucg/oob/ranks.hpp"

using namespace test;

namespace {

enum class medium { tcp, folder, board };

// Makes exchanges over a medium.
struct store {
    // Ranks that left have removed their files.
    [[nodiscard]] bool is_clean() const { return std::filesystem::is_empty(folder.path()); }

    exchange of(std::uint32_t size) {
        if (over == medium::tcp) return test::tcp_exchange(size);
        if (over == medium::folder)
            return {size, [this, size](std::uint32_t rank) {
                        return test::folder_rank(rank, size, folder.path(), job);
                    }};
        std::vector<ucg_oob_t*> all(size);
        REQUIRE(ucg_oob_create_local(size, all.data()) == UCS_OK);
        board.clear();
        for (ucg_oob_t* each : all)
            board.emplace_back(each);
        return {size, [this](std::uint32_t rank) { return std::move(board[rank]); }};
    }

    medium over;
    test::temp_dir folder{};
    const char* job = "job.1";
    std::vector<oob_handle> board{};
};

medium any_medium() {
    return GENERATE(medium::tcp, medium::folder, medium::board);
}

exchange::body rounds(std::vector<std::size_t> blocks) {
    return [blocks = std::move(blocks)](oob_handle& oob) {
        std::string wrong;
        for (unsigned round = 0; round < blocks.size() && wrong.empty(); ++round)
            wrong = check_round(*oob, round, blocks[round]);
        return wrong;
    };
}

}  // namespace

TEST_CASE("exchange: threads and processes exchange blocks of all sizes repeatedly") {
    store store{any_medium()};
    for (const std::uint32_t size : {1U, 2U, 3U, 16U, store.over == medium::folder ? 8U : 64U})
        CHECK(store.of(size).on_threads(rounds({1, 0, 8, 300, 0, 4096, 4097, 20'000, 5})) == "");
    for (const std::uint32_t size : {1U, 8U})
        CHECK(store.of(size).on_processes(rounds({1 << 20, 0, 3, (1 << 20) + 7})) == "");
    CHECK(store.is_clean());
}

TEST_CASE("exchange: a child that destroys its copy of an object disturbs no rank") {
    store store{any_medium()};
    CHECK(store.of(3).on_processes(test::rounds_around_children) == "");
    CHECK(store.is_clean());
}

TEST_CASE("exchange: a killed rank ends the round on all other ranks at any point") {
    const medium over = any_medium();
    std::mt19937 random(4711);
    for (std::uint32_t run = 0; run < 16; ++run) {
        store store{over};
        const std::size_t bytes = run % 2 == 0 ? 8 : 400'000;
        const auto tests = static_cast<unsigned>(random() % 40);
        INFO("victim " << run % 4 << " after " << tests << " calls of test");
        CHECK(store.of(4).on_processes([&](oob_handle& oob) -> std::string {
            if (auto wrong = check_round(*oob, 0, 16); !wrong.empty()) return wrong;
            if (oob->rank != run % 4) return expect_failure(*oob, UCS_ERR_CONNECTION_RESET, bytes);
            std::vector<std::byte> block(bytes), all(4 * bytes);
            void* request = nullptr;
            // In the first runs the rank is killed between rounds.
            if (run >= 4 &&
                oob->allgather(oob->arg, block.data(), all.data(), bytes, &request) != UCS_OK)
                return "allgather";
            for (unsigned i = 0; request != nullptr && i < tests; ++i)
                if (oob->test(oob->arg, request) != UCS_INPROGRESS) break;
            ::kill(::getpid(), SIGKILL);
            return "lives";
        }) == "");
    }
}

TEST_CASE("exchange: all ranks name a rank that left, and sizes must not differ") {
    store store{any_medium()};
    const test::log_capture log;
    std::atomic<int> failed = 0;
    CHECK(store.of(3).on_threads([&](oob_handle& oob) -> std::string {
        if (auto wrong = check_round(*oob, 0, 16); !wrong.empty() || oob->rank == 2) return wrong;
        auto wrong = expect_failure(*oob, UCS_ERR_CONNECTION_RESET);
        // The first of the two to leave would be named, too.
        for (++failed; failed < 2;)
            std::this_thread::yield();
        return wrong;
    }) == "");
    // Rank 0 of a TCP store tells the others.
    CHECK(log.count("rank 2") >= (store.over == medium::tcp ? 1U : 2U));
    store.job = "job.2";
    CHECK(store.of(2).on_threads([](oob_handle& oob) -> std::string {
        if (auto wrong = check_round(*oob, 0, 16); !wrong.empty()) return wrong;
        return expect_failure(*oob, UCS_ERR_INVALID_PARAM, 8 + oob->rank);
    }) == "");
}

TEST_CASE("exchange: ranks look up published blocks") {
    store store{any_medium()};
    const auto look_up = [](oob_handle& oob) -> std::string {
        for (std::uint64_t number = 0; number < 3; ++number)
            if (auto wrong = test::check_lookups(*oob, number, number == 1 ? 60'000 : 300);
                !wrong.empty())
                return wrong;
        return {};
    };
    CHECK(store.of(2).on_threads(look_up) == "");
    for (const std::uint32_t size : {1U, 5U, 16U})
        CHECK(store.of(size).on_processes(look_up) == "");
    CHECK(store.is_clean());
}
