#include "ucs/sys/process_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include "test/support/child.hpp"

using namespace ucs;

namespace {

constexpr const char* kind = "hawser-test";

unique_fd make_file(std::uint64_t tag) {
    return unique_fd(::memfd_create(sys::tagged_file_name(kind, tag).c_str(), MFD_CLOEXEC));
}

sys::process_file named(const unique_fd& file, std::uint64_t tag) {
    return {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(file.get()), tag};
}

void refused(const sys::process_file& wanted, const char* part) {
    const auto opened = sys::open_process_file(wanted, kind, true);
    CHECK_FALSE(opened.file);
    INFO(opened.reason);
    CHECK(opened.reason.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("process file: the named file is opened", "[ucs][sys]") {
    const unique_fd own = make_file(0xabcd);
    REQUIRE(::write(own.get(), "hello", 5) == 5);
    const auto opened = sys::open_process_file(named(own, 0xabcd), kind, true);
    INFO(opened.reason);
    REQUIRE(opened.file);
    char bytes[5];
    CHECK(::pread(opened.file.get(), bytes, sizeof bytes, 0) == 5);
    CHECK(::pwrite(opened.file.get(), "H", 1, 0) == 1);
    const auto to_read = sys::open_process_file(named(own, 0xabcd), kind, false);
    REQUIRE(to_read.file);
    CHECK(::pwrite(to_read.file.get(), "H", 1, 0) == -1);
}

TEST_CASE("process file: any other file is refused before it is opened", "[ucs][sys]") {
    const unique_fd own = make_file(1);
    SECTION("another tag") {
        refused(named(own, 2), "another file");
    }
    SECTION("another kind") {
        const auto opened = sys::open_process_file(named(own, 1), "hawser-other", true);
        CHECK_FALSE(opened.file);
    }
    SECTION("a descriptor that is not there") {
        refused({static_cast<std::uint64_t>(::getpid()), 1'000'000, 1}, "cannot be opened");
    }
    SECTION("numbers out of range") {
        refused({0, 1, 1}, "malformed");
        refused({~std::uint64_t{0}, 1, 1}, "malformed");
        refused({1, ~std::uint64_t{0}, 1}, "malformed");
    }
    SECTION("a pipe, whose opening would have an effect") {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const unique_fd reads(ends[0]), writes(ends[1]);
        refused(named(reads, 1), "another file");
    }
}

TEST_CASE("process file: a file of another user is refused", "[ucs][sys]") {
    if (::geteuid() != 0) {
        WARN("skipped: only root can give a file to another user");
        return;
    }
    CHECK(test::run_in_child([&] {
              const unique_fd own = make_file(3);
              const bool ready = ::fchown(own.get(), 12345, 12345) == 0 &&
                                 ::fchmod(own.get(), 0666) == 0 &&
                                 ::setresuid(54321, 54321, 54321) == 0;
              if (!ready) return 2;
              const auto opened = sys::open_process_file(named(own, 3), kind, true);
              return !opened.file && opened.reason.find("user 12345") != std::string::npos ? 0 : 1;
          }) == 0);
}
