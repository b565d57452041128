#include "ucs/log/log.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "test/support/log_capture.hpp"
#include "test/support/temp_dir.hpp"
#include "ucs/log/output.hpp"
#include "ucs/sys/process.hpp"

namespace ulog = ucs::log;

namespace {

constinit ulog::component alpha{"test.alpha"};
constinit ulog::component beta{"test.beta"};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

ulog::settings to_file(const std::string& path) {
    return {.levels = "info", .file = path};
}

// Restores the default log settings for later tests.
struct restore {
    ~restore() { (void)ulog::configure({}); }
};

}  // namespace

TEST_CASE("messages below the level of their component are not formatted") {
    const restore after;
    test::log_capture captured;
    REQUIRE(ulog::set_level("warn,test.alpha:debug") == UCS_OK);
    ulog::debug(alpha, "one {}", 1);
    ulog::debug(beta, "two");
    ulog::warn(beta, "three");
    CHECK(captured.count("one 1") == 1);
    CHECK(captured.count("two") == 0);
    CHECK(captured.count("three", ulog::level::warn) == 1);
    REQUIRE(ulog::set_level("error") == UCS_OK);
    ulog::debug(alpha, "four");
    ulog::warn(beta, "five");
    CHECK(captured.count("four") + captured.count("five") == 0);
}

TEST_CASE("a wrong level at run time is refused and changes nothing") {
    const restore after;
    test::log_capture captured;
    REQUIRE(ulog::set_level("info") == UCS_OK);
    CHECK(ulog::set_level("noisy") == UCS_ERR_INVALID_PARAM);
    CHECK(ulog::current_levels() == "info");
    CHECK(captured.count("noisy", ulog::level::error) == 1);
    CHECK(alpha.enabled(ulog::level::info));
    CHECK_FALSE(alpha.enabled(ulog::level::debug));
}

namespace {

// Each case has a folder, and restores the settings.
struct restored {
    const restore after{};
    const test::temp_dir folder;
};

}  // namespace

TEST_CASE_METHOD(restored, "a line has time, host, process, thread, component and level") {
    REQUIRE(ulog::configure(to_file(folder / "log")) == UCS_OK);
    ulog::info(alpha, "value {:#x}", 255);
    const auto lines = lines_of(folder.read("log"));
    REQUIRE(lines.size() == 1);
    const std::string& line = lines.front();
    const std::string process =
        std::string(ucs::sys::host_name()) + ":" + std::to_string(::getpid()) + ":";
    CHECK(line.front() == '[');
    CHECK(line.find("] [" + process) != line.npos);
    CHECK(line.find("] test.alpha") != line.npos);
    CHECK(line.find(" info  value 0xff") == line.size() - 17);
}

TEST_CASE_METHOD(restored, "control characters in a message cannot forge or break lines") {
    REQUIRE(ulog::configure(to_file(folder / "log")) == UCS_OK);
    ulog::info(alpha, "a\x1b[2J\rb\nsecond\n");
    const auto lines = lines_of(folder.read("log"));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].find("a\\x1b[2J\\x0db") != std::string::npos);
    CHECK(lines[1].find("test.alpha") != std::string::npos);
    CHECK(lines[1].find("second") != std::string::npos);
}

TEST_CASE_METHOD(restored, "lines of many threads do not mix, over rotations too") {
    ulog::settings wanted = to_file(folder / "log");
    wanted.file_size = 16 * 1024;
    wanted.backups = 50;
    REQUIRE(ulog::configure(wanted) == UCS_OK);
    constexpr int threads = 4;
    constexpr int messages = 300;
    std::vector<std::thread> writers;
    for (int t = 0; t < threads; ++t) {
        writers.emplace_back([t] {
            for (int i = 0; i < messages; ++i) {
                ulog::info(alpha, "<{}:{}:{}>", t, i, std::string(100, static_cast<char>('a' + t)));
            }
        });
    }
    for (std::thread& writer : writers)
        writer.join();
    std::vector<std::string> found;
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
        ++files;
        std::ifstream in(file.path());
        for (std::string line; std::getline(in, line);) {
            found.push_back(line.substr(std::min(line.find('<'), line.size())));
        }
    }
    // The number of files depends on the scheduler: while one thread rotates, the others continue
    // to write.
    CHECK(files > 1);
    std::vector<std::string> expected;
    for (int t = 0; t < threads; ++t) {
        for (int i = 0; i < messages; ++i) {
            expected.push_back("<" + std::to_string(t) + ":" + std::to_string(i) + ":" +
                               std::string(100, static_cast<char>('a' + t)) + ">");
        }
    }
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
}

TEST_CASE_METHOD(restored, "the number of full log files is limited") {
    ulog::settings wanted = to_file(folder / "log");
    wanted.file_size = 500;
    wanted.backups = 2;
    REQUIRE(ulog::configure(wanted) == UCS_OK);
    for (int i = 0; i < 50; ++i)
        ulog::info(alpha, "message {}", i);
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
        names.push_back(file.path().filename());
    }
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"log", "log.1", "log.2"});
    CHECK(folder.read("log.2").find("message 49") == std::string::npos);
}

TEST_CASE_METHOD(restored,
                 "a log file that cannot be opened is reported and messages go to stderr") {
    test::log_capture captured;
    CHECK(ulog::configure(to_file(folder / "missing/log")) == UCS_ERR_IO_ERROR);
    CHECK(captured.count("missing/log", ulog::level::error) == 1);
}

TEST_CASE("log file names have fields for host, process, program and percent") {
    const std::string name = ulog::expand_file_name("a-%h-%p-%e-%%-%x-%");
    const std::string host(ucs::sys::host_name());
    const std::string program(ucs::sys::executable_name());
    CHECK(name == "a-" + host + "-" + std::to_string(::getpid()) + "-" + program + "-%-%x-%");
    CHECK(program == "ucs_unit_tests");
}
