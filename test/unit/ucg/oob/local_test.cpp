// Tests of the out-of-band exchange over a board in shared memory.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>
#include <thread>
#include <vector>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/oob/ranks.hpp"
#include "ucg/oob/board/board.hpp"
#include "ucg/oob/factories.hpp"

using namespace test;

namespace {

std::vector<test::oob_handle> board(std::uint32_t size) {
    std::vector<ucg_oob_t*> all(size);
    std::vector<test::oob_handle> owned;
    if (ucg_oob_create_local(size, all.data()) == UCS_OK)
        for (ucg_oob_t* each : all)
            owned.emplace_back(each);
    return owned;
}

}  // namespace

TEST_CASE(
    "board: processes exchange blocks of a megabyte, and destroy the objects of other ranks") {
    auto all = board(4);
    CHECK(test::run_as_processes(4, [&](std::uint32_t rank) {
              for (std::uint32_t other = 0; other < 4; ++other)
                  if (other != rank) all[other].reset();
              return check_round(*all[rank], 0, std::size_t{1} << 20);
          }) == "");
}

TEST_CASE("board: a child cannot use an object that its parent uses") {
    const test::log_capture log;
    auto all = board(1);
    REQUIRE(check_round(*all[0], 0, 10) == "");
    CHECK(test::run_as_processes(1, [&](std::uint32_t) -> std::string {
              char block = 0, got = 0;
              void* request = nullptr;
              return all[0]->allgather(all[0]->arg, &block, &got, 1, &request) ==
                             UCS_ERR_INVALID_PARAM
                         ? ""
                         : "another status";
          }) == "");
    CHECK(check_round(*all[0], 1, 10) == "");
}

TEST_CASE("board: a timeout names the ranks that did not arrive") {
    const test::log_capture log;
    auto made = ucg::oob::make_local(4, 0.05);
    REQUIRE(made);
    char block[4] = {}, all[16];
    CHECK((*made)[1]->begin(block, all, 4) == UCS_OK);
    ucs_status_t status = UCS_INPROGRESS;
    while (status == UCS_INPROGRESS)
        status = (*made)[1]->test();
    CHECK(status == UCS_ERR_TIMED_OUT);
    CHECK(log.count("ranks 0 and 2-3 did not take part within 0.05 s") == 1);
    CHECK((*made)[1]->test() == UCS_ERR_TIMED_OUT);
    (*made)[1]->release();
    CHECK((*made)[1]->begin(block, all, 4) == UCS_ERR_TIMED_OUT);
}

TEST_CASE("board: a second round and impossible sizes are refused") {
    const test::log_capture log;
    auto all = board(2);
    ucg_oob_t& oob = *all[0];
    char block[4] = {}, got[8];
    void* request = nullptr;
    CHECK(oob.allgather(oob.arg, nullptr, got, 4, &request) == UCS_ERR_INVALID_PARAM);
    CHECK(oob.allgather(oob.arg, block, got, ~std::size_t{0}, &request) == UCS_ERR_INVALID_PARAM);
    CHECK(oob.allgather(oob.arg, block, got, 4, nullptr) == UCS_ERR_INVALID_PARAM);
    REQUIRE(oob.allgather(oob.arg, block, got, 4, &request) == UCS_OK);
    void* second = nullptr;
    CHECK(oob.allgather(oob.arg, block, got, 4, &second) == UCS_ERR_BUSY);
    CHECK(oob.test(oob.arg, request) == UCS_INPROGRESS);
    oob.release(oob.arg, request);
    ucg_oob_t* none = nullptr;
    CHECK(ucg_oob_create_local(0, &none) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_oob_create_local(1, nullptr) == UCS_ERR_INVALID_PARAM);
    ucg_oob_t foreign = UCG_OOB_INIT;
    ucg_oob_destroy(&foreign);
    CHECK(log.count("not one of the bundled ones") == 1);
}

TEST_CASE("board: blocks of a dead rank are found") {
    auto all = board(3);
    CHECK(test::run_as_processes(3, [&](std::uint32_t rank) -> std::string {
              const ucg_oob_t& oob = *all[rank];
              const char block = static_cast<char>('a' + rank);
              std::uint64_t number = 9;
              if (oob.publish(oob.arg, &block, 1, &number) != UCS_OK || number != 0)
                  return "publish";
              if (auto wrong = check_round(oob, 0, 16); !wrong.empty()) return wrong;
              if (rank == 1) ::kill(::getpid(), SIGKILL);
              if (auto wrong = expect_failure(oob, UCS_ERR_CONNECTION_RESET); !wrong.empty())
                  return wrong;
              std::vector<std::byte> found(8);
              if (test::look_up(oob, 0, 1, found) != UCS_OK) return "it is not found";
              return found == std::vector<std::byte>{std::byte{'b'}} ? "" : "something else";
          }) == "");
}

TEST_CASE("board: publications store differing blocks only, and are refused when full") {
    auto all = board(1);
    const ucg_oob_t& oob = *all[0];
    std::vector<std::byte> block(60 * 1024);
    std::uint64_t number = 0;
    // Publishing the same block repeatedly takes no memory.
    for (std::uint64_t i = 0; i < 100; ++i) {
        REQUIRE(oob.publish(oob.arg, block.data(), block.size(), &number) == UCS_OK);
        CHECK(number == i);
    }
    block[0] = std::byte{1};
    CHECK(oob.publish(oob.arg, block.data(), block.size(), &number) == UCS_OK);
    block[0] = std::byte{2};
    CHECK(oob.publish(oob.arg, block.data(), block.size(), &number) == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(number == 101);
    REQUIRE(check_round(oob, 0, 1) == "");
    std::vector<std::byte> found(64 * 1024);
    CHECK(test::look_up(oob, 99, 0, found) == UCS_OK);
    CHECK(found[0] == std::byte{0});
    CHECK(test::look_up(oob, 100, 0, found) == UCS_OK);
    CHECK(found[0] == std::byte{1});
    found.resize(10);
    CHECK(test::look_up(oob, 100, 0, found) == UCS_ERR_BUFFER_TOO_SMALL);
}

TEST_CASE("board: publications with an overwritten length accept no block") {
    auto made = ucg::oob::local_board::make(1);
    REQUIRE(made);
    ucg::oob::local_publications& publications = made->publications_of(0);
    const std::vector<std::byte> block(8, std::byte{1});
    constexpr std::uint64_t capacity = ucg::oob::local_publications::capacity;
    for (const std::uint64_t length :
         {~std::uint64_t{7}, ~std::uint64_t{31}, capacity + 8, capacity - 4}) {
        publications.used.store(length);
        CHECK_FALSE(publications.add(0, block));
        CHECK(publications.find(0).empty());
    }
    publications.used.store(0);
    CHECK(publications.add(0, block));
}

// Uses constant expressions, in which the compiler refuses a negation that overflows.
TEST_CASE("board: every value of a peer process is a valid rank status") {
    using state = ucg::oob::local_rank_state;
    STATIC_REQUIRE(state::failure_of(0) == UCS_OK);
    STATIC_REQUIRE(state::failure_of(state::has_left) == UCS_OK);
    STATIC_REQUIRE(state::failure_of(-UCS_ERR_TIMED_OUT) == UCS_ERR_TIMED_OUT);
    STATIC_REQUIRE(state::failure_of(-UCS_ERR_LAST) == UCS_OK);
    STATIC_REQUIRE(state::failure_of(0x8000'0000) == UCS_OK);
    STATIC_REQUIRE(state::failure_of(0xffff'ffff) == UCS_OK);
}
