#include "ucs/sys/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>

#include "ucs/random/random_bytes.hpp"
#include "ucs/random/seeded.hpp"

namespace sys = ucs::sys;

TEST_CASE("identities of host and namespaces exist and stay the same") {
    CHECK(sys::host_id() != 0);
    CHECK(sys::host_id() == sys::host_id());
    CHECK(sys::pid_namespace() != 0);
    CHECK(sys::net_namespace() != 0);
    CHECK(sys::net_namespace() != sys::pid_namespace());
    CHECK_FALSE(sys::host_name().empty());
    CHECK(sys::host_name().find('.') == std::string_view::npos);
}

TEST_CASE("a child began after its parent") {
    const auto own = sys::start_time(::getpid());
    REQUIRE(own);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const auto time = sys::start_time(::getpid());
        ::_exit(time && *time >= *own ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK_FALSE(sys::start_time(child).has_value());
}

TEST_CASE("a program name cannot disturb the parsing of the start time") {
    CHECK(sys::parse_start_time("7 (a) b) c (d) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
                                "12345 20 21") == 12345);
    CHECK_FALSE(sys::parse_start_time("").has_value());
    CHECK_FALSE(sys::parse_start_time("7 (name) R 1 2").has_value());
    CHECK_FALSE(sys::parse_start_time("7 (name").has_value());
}

TEST_CASE("random ids differ and are never zero") {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 10000; ++i) {
        const std::uint64_t id = sys::random_id();
        REQUIRE(id != 0);
        REQUIRE(seen.insert(id).second);
    }
}

TEST_CASE("hashes of texts are the published ones") {
    CHECK(sys::hash_text("") == 0xcbf29ce484222325U);
    CHECK(sys::hash_text("a") == 0xaf63dc4c8601ec8cU);
    CHECK(sys::mix(0) == 0xe220a8397b1dcdafU);
}
