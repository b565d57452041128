#include "ucs/sys/file_size.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"
#include "ucs/sys/trusted_file.hpp"
#include "ucs/type/unique_fd.hpp"

namespace {

// Sets another limit of file sizes during its lifetime. SIGXFSZ would end this process.
class size_limit {
public:
    explicit size_limit(rlim_t soft) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit lower{soft, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &lower) == 0);
    }
    ~size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    size_limit(const size_limit&) = delete;
    size_limit& operator=(const size_limit&) = delete;

private:
    rlimit before_{};
};

bool is_pending(int signal) {
    sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, signal) == 1;
}

}  // namespace

TEST_CASE("a file grows up to the limit, without a signal") {
    const ucs::unique_fd file(::memfd_create("grows", MFD_CLOEXEC));
    CHECK(ucs::sys::extend_file(file.get(), 4096));
    const size_limit low(8192);
    CHECK(ucs::sys::extend_file(file.get(), 8192));
    CHECK_FALSE(ucs::sys::extend_file(file.get(), 8193));
    CHECK(errno == EFBIG);
}

TEST_CASE("writing beyond the limit fails, without a signal") {
    const ucs::unique_fd file(::memfd_create("written", MFD_CLOEXEC));
    const size_limit low(10);
    CHECK(ucs::sys::write_within_limit(file.get(), "123456789012") == 10);
    CHECK(ucs::sys::write_within_limit(file.get(), "3") == -1);
    CHECK(errno == EFBIG);
    CHECK_FALSE(is_pending(SIGXFSZ));
}

TEST_CASE("a signal that was pending before is left to the program") {
    const ucs::unique_fd file(::memfd_create("written", MFD_CLOEXEC));
    sigset_t signal;
    sigset_t before;
    ::sigemptyset(&signal);
    ::sigaddset(&signal, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal, &before);
    ::raise(SIGXFSZ);
    {
        const size_limit low(0);
        CHECK(ucs::sys::write_within_limit(file.get(), "1") == -1);
    }
    CHECK(is_pending(SIGXFSZ));
    constexpr timespec now{};
    CHECK(::sigtimedwait(&signal, nullptr, &now) == SIGXFSZ);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a file that cannot be written completely is not created") {
    const test::temp_dir folder;
    folder.write("file", "old");
    const size_limit low(4);
    CHECK_FALSE(ucs::sys::replace_file(folder / "file", "longer").empty());
    CHECK(folder.read("file") == "old");
    CHECK(ucs::sys::replace_file(folder / "file", "fits").empty());
    CHECK(folder.read("file") == "fits");
}
