#include "ucs/sys/module.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"

TEST_CASE("a missing or invalid module is refused with its path") {
    const test::temp_dir folder;
    const std::string place = folder.path();
    const ucs::sys::module_head expected{16, 1};
    std::string reason;
    CHECK(ucs::sys::load_module("absent", place, expected, reason) == nullptr);
    CHECK(reason.find("absent.so") != std::string::npos);
    folder.write("text.so", "no library");
    reason.clear();
    CHECK(ucs::sys::load_module("text", place, expected, reason) == nullptr);
    CHECK(reason.find("text.so") != std::string::npos);
    reason.clear();
    CHECK(ucs::sys::load_module("absent", "", expected, reason) == nullptr);
    CHECK(reason.find("/hawser/absent.so") != std::string::npos);
}

TEST_CASE("a module that others could have written is not loaded") {
    const test::temp_dir folder;
    const ucs::sys::module_head expected{16, 1};
    std::string reason;
    REQUIRE(::mkfifo((folder / "pipe.so").c_str(), 0600) == 0);
    CHECK(ucs::sys::load_module("pipe", folder.path(), expected, reason) == nullptr);
    CHECK(reason.find("it is a pipe") != std::string::npos);
    folder.write("text.so", "no library");
    REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
    CHECK(ucs::sys::load_module("text", folder.path(), expected, reason) == nullptr);
    CHECK(reason.find("others can write to its folder") != std::string::npos);
}
