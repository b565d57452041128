#include "ucs/log/repeats.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "test/support/log_capture.hpp"

namespace {

constinit const ucs::log::component self{"test.repeats"};
constexpr std::size_t lines_of_ten_thousand = ucs::log::first_lines + 4;

void fail(const char* call, const std::string& peer) {
    ucs::log::error(self, "{} of {} failed", call, peer);
}

template<class... Args>
std::uint64_t kind(fmt::string_view format, const Args&... args) {
    return ucs::log::kind_of(format, fmt::make_format_args(args...));
}

}  // namespace

TEST_CASE("a repeated warning or error is written the first times and at powers of ten") {
    const test::log_capture log;
    for (int i = 1; i <= 10'000; ++i) {
        ucs::log::warn(self, "warning {}", i);
        ucs::log::error(self, "error {}", i);
    }
    CHECK(log.count("warning ") == lines_of_ten_thousand);
    CHECK(log.count("error ") == lines_of_ten_thousand);
    CHECK(log.count("error 7") == 1);
    CHECK(log.count("error 8 (8 of the kind so far, only powers of ten are reported)") == 1);
    CHECK(log.count("error 1000 (1000 of the kind so far") == 1);
}

TEST_CASE("different calls and reasons are different kinds, different peers are not") {
    const test::log_capture log;
    for (int i = 0; i < 50; ++i) {
        fail("connect", "peer " + std::to_string(i));
        fail("accept", "peer " + std::to_string(i));
    }
    CHECK(log.count("connect of") == ucs::log::first_lines + 1);
    CHECK(log.count("accept of") == ucs::log::first_lines + 1);
    CHECK(kind("{} {}", "a", 1) == kind("{} {}", "a", 2));
    CHECK(kind("{} {}", "a", 1) != kind("{} {}", "b", 1));
    CHECK(kind("{}", std::string("a")) == kind("{}", std::string("b")));
    CHECK(kind("{}", static_cast<const char*>(nullptr)) == kind("{}", 1));
}

TEST_CASE("UCX_LOG_REPEATS sets how many lines of a kind are written before only some are") {
    ucs::log::settings wanted;
    wanted.repeats = 50;
    REQUIRE(ucs::log::configure(wanted) == UCS_OK);
    {
        const test::log_capture log;
        for (int i = 1; i <= 200; ++i)
            ucs::log::warn(self, "line {}", i);
        CHECK(log.size() == 51);
        CHECK(log.count("line 49 (") == 0);
        CHECK(log.count("line 50 (50 of the kind so far") == 1);
        CHECK(log.count("line 100 (") == 1);
    }
    REQUIRE(ucs::log::configure({}) == UCS_OK);
}

TEST_CASE("more kinds than the table has room for are counted as one") {
    static ucs::log::line_counts counts;
    constexpr std::uint64_t kinds = 100'000;
    std::uint64_t first_times = 0;
    for (std::uint64_t each = 1; each <= kinds; ++each)
        first_times += counts.add(each * 0x9e3779b97f4a7c15U | 1U) == 1 ? 1U : 0U;
    CHECK(first_times > 100);
    CHECK(first_times <= 1024 + 1);
    counts.reset();
    CHECK(counts.add(5) == 1);
    CHECK(counts.add(5) == 2);
}

TEST_CASE("threads count each line once") {
    static ucs::log::line_counts counts;
    constexpr int times = 10'000;
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t) {
        all.emplace_back([] {
            for (int i = 0; i < times; ++i)
                counts.add(7);
        });
    }
    for (std::thread& each : all)
        each.join();
    CHECK(counts.add(7) == 4 * times + 1);
}
