#include "ucs/descriptor/descriptor_budget.hpp"

#include <errno.h>
#include <fcntl.h>

#include "test/support/descriptor_limit.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"

using ucs::unique_fd;
using namespace ucs::sys;

namespace {

unique_fd open_null() {
    return within_budget(unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
}

}  // namespace

TEST_CASE("a tenth of the descriptors is left to the program, at least 64, at most half") {
    CHECK(descriptor_reserve(1 << 20) == (1 << 20) / 10);
    CHECK(descriptor_reserve(1024) == 102);
    CHECK(descriptor_reserve(640) == 64);
    CHECK(descriptor_reserve(400) == 64);
    CHECK(descriptor_reserve(128) == 64);
    CHECK(descriptor_reserve(60) == 30);
    CHECK(descriptor_reserve(0) == 0);
}

TEST_CASE("descriptors are scarce before the budget is used up") {
    constexpr int limit = 200;
    const test::descriptor_limit low(limit);
    test::virtual_time time;
    CHECK_FALSE(ucs::sys::are_descriptors_scarce());
    std::vector<unique_fd> taken;
    while (!ucs::sys::are_descriptors_scarce()) {
        taken.push_back(open_null());
        REQUIRE(taken.back());
    }
    CHECK(taken.back().get() <= (limit - 64) / 6 * 5);
    CHECK(ucs::sys::has_descriptor_left());
    // Descriptors stay scarce for a while, until the closed ones are really free.
    taken.clear();
    CHECK(ucs::sys::are_descriptors_scarce());
    time.now += 2 * ucs::time::second;
    CHECK_FALSE(ucs::sys::are_descriptors_scarce());
}

TEST_CASE(
    "descriptors in the reserve are closed, with one line, and the program can open its own") {
    const test::log_capture log;
    constexpr int limit = 200;
    const test::descriptor_limit low(limit);
    std::vector<unique_fd> taken;
    unique_fd last = open_null();
    for (; last; last = open_null())
        taken.push_back(std::move(last));
    CHECK(errno == EMFILE);
    REQUIRE_FALSE(taken.empty());
    CHECK(taken.back().get() == limit - 64 - 1);
    for (int i = 0; i < 5; ++i)
        CHECK_FALSE(open_null());
    CHECK_FALSE(ucs::sys::has_descriptor_left());
    CHECK(log.count("64 are left to the program") == 1);
    std::vector<unique_fd> own;
    for (int i = 0; i < 64; ++i) {
        own.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        CHECK(own.back());
    }
    own.clear();
    taken.pop_back();
    CHECK(ucs::sys::has_descriptor_left());
    CHECK(open_null());
}

TEST_CASE("an empty descriptor stays empty, with its reason") {
    errno = ENFILE;
    CHECK_FALSE(within_budget(unique_fd()));
    CHECK(errno == ENFILE);
}
