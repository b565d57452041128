#include "ucp/core/host_costs.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "test/support/environment.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/temp_dir.hpp"

namespace {

namespace fs = std::filesystem;

// A separate folder for the cached figures.
struct own_cache {
    test::temp_dir folder;
    test::env variable{"XDG_CACHE_HOME", folder.path().c_str()};

    // Returns the file that measuring creates; "" if there is not exactly one.
    [[nodiscard]] fs::path file() const {
        fs::path found;
        if (!fs::exists(fs::path(folder.path()) / "hawser")) return found;
        for (const auto& each : fs::directory_iterator(fs::path(folder.path()) / "hawser")) {
            if (!found.empty()) return {};
            found = each.path();
        }
        return found;
    }
};

bool measured(const ucp::host_costs& costs) {
    return costs.origin == "measured now";
}

}  // namespace

TEST_CASE("figures are measured once and cached") {
    const own_cache cache;
    const ucp::host_costs first = ucp::measure_host(true);
    CHECK(measured(first));
    CHECK(first.copy_cached >= first.copy_memory);
    CHECK(first.cache_size > 0);
    REQUIRE_FALSE(cache.file().empty());
    const ucp::host_costs second = ucp::measure_host(true);
    CHECK(second.origin.find(cache.file().string()) != std::string::npos);
    CHECK(second.copy_memory == Approx(first.copy_memory).epsilon(1e-4));
    CHECK(second.single_copy == Approx(first.single_copy).epsilon(1e-4));
    CHECK(second.cache_size == first.cache_size);
    CHECK(second.single_copy_works == first.single_copy_works);
}

TEST_CASE("an invalid cache file is ignored with one log line and replaced") {
    const own_cache cache;
    (void)ucp::measure_host(true);
    const std::string file = cache.file().string();
    const std::string aside = cache.folder / "aside";
    const auto replaced = [&](const char* reason) {
        const test::log_capture log;
        CHECK(measured(ucp::measure_host(true)));
        INFO(log.text());
        CHECK(log.count(reason) == 1);
        CHECK(log.size() == 1);
        CHECK_FALSE(measured(ucp::measure_host(true)));
        CHECK(fs::is_regular_file(fs::symlink_status(file)));
    };
    SECTION("a pipe, which would block") {
        fs::remove(file);
        REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
        replaced("it is a pipe");
    }
    SECTION("a link") {
        fs::rename(file, aside);
        fs::create_symlink(aside, file);
        replaced("it is a symbolic link");
        CHECK(fs::exists(aside));
    }
    SECTION("a file that others can write to") {
        REQUIRE(::chmod(file.c_str(), 0666) == 0);
        replaced("others can write to it");
    }
}

TEST_CASE("nothing is cached in a folder that others can write to") {
    const own_cache cache;
    (void)ucp::measure_host(true);
    REQUIRE(::chmod((cache.folder / "hawser").c_str(), 0777) == 0);
    const test::log_capture log;
    CHECK(measured(ucp::measure_host(true)));
    CHECK(measured(ucp::measure_host(true)));
    INFO(log.text());
    CHECK(log.count("others can write to its folder") == 1);
    CHECK(log.size() == 1);
}

TEST_CASE("nothing is measured or written when measuring is disabled") {
    const own_cache cache;
    CHECK(ucp::measure_host(false).origin == ucp::host_costs{}.origin);
    CHECK(cache.file().empty());
}

TEST_CASE("a damaged file is measured again and replaced") {
    const own_cache cache;
    (void)ucp::measure_host(true);
    const fs::path file = cache.file();
    for (const char* content :
         {"", "hawser-host", "hawser-host 99 1e10 1e10 1000 1e-6 1e10 1\n",
          "hawser-host 1 nan 1e10 1000 1e-6 1e10 1\n", "hawser-host 1 1e10 1e10 1000 1e-6 -5 1\n",
          "hawser-host 1 1e10 1e10 1000 1e99 1e10 1\n"}) {
        INFO(content);
        cache.folder.write("hawser/" + file.filename().string(), content);
        CHECK(measured(ucp::measure_host(true)));
        CHECK_FALSE(measured(ucp::measure_host(true)));
        CHECK(cache.file() == file);  // and there is no other file
    }
}

TEST_CASE("a cache that cannot be written does no harm") {
    const own_cache cache;
    cache.folder.write("hawser", "a file where the folder should be");
    CHECK(measured(ucp::measure_host(true)));
    CHECK(measured(ucp::measure_host(true)));
}

TEST_CASE("without a home folder nothing is cached") {
    const test::env home("HOME", nullptr);
    const test::env cache("XDG_CACHE_HOME", nullptr);
    CHECK(measured(ucp::measure_host(true)));
}
