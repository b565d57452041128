// libucs.so.0 through its C interface: the log that programs of the family write to.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "test/support/environment.hpp"
#include "test/support/temp_dir.hpp"
#include "ucs/debug/debug.h"
#include "ucs/debug/log_def.h"

namespace {

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// One test case, because a process reads the log's destination with its first message.
TEST_CASE("programs write to the library's log") {
    const test::temp_dir folder;
    const std::string path = folder.path() + "/log";
    const test::env file("UCX_LOG_FILE", path.c_str());
    ucs_log_component_config_t component{UCS_LOG_LEVEL_WARN, {}, "*"};
    // As long as the array: no zero byte at its end.
    std::memcpy(component.name, "abcdefghijklmnop", sizeof(component.name));

    ucs_log_dispatch("src/a.cpp", 7, "f", UCS_LOG_LEVEL_WARN, &component, "%d of %s", 3, "four");
    ucs_log_dispatch("src/a.cpp", 7, "f", UCS_LOG_LEVEL_DEBUG, &component, "in detail");
    ucs_log_dispatch(nullptr, 0, nullptr, UCS_LOG_LEVEL_PRINT, nullptr, "without a component");
    const std::string long_text(5000, 'x');
    ucs_log_dispatch(nullptr, 0, nullptr, UCS_LOG_LEVEL_INFO, &component, "%s", long_text.c_str());

    const std::string log = content(path);
    INFO(log);
    CHECK(log.find("abcdefghijklmnop") != std::string::npos);
    CHECK(log.find("warn") != std::string::npos);
    CHECK(log.find("3 of four\n") != std::string::npos);
    CHECK(log.find("a.cpp:7 in detail\n") != std::string::npos);
    CHECK(log.find("without a component\n") != std::string::npos);
    CHECK(log.find(long_text) != std::string::npos);
}

TEST_CASE("no signal belongs to the library") {
    CHECK(ucs_debug_is_error_signal(SIGSEGV) == 0);
    CHECK(ucs_debug_is_error_signal(SIGUSR1) == 0);
}
