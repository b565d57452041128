// Which process of a node the kernel says a rank is.
#include "ucg/node/rank_lock.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ucs/memory/mapped.hpp"

using namespace ucg::node;

namespace {

// A child that has the file, and locks the byte of a rank if it is told to.
struct holder {
    holder(int file, rank_t rank, bool locks) {
        int ready[2];
        REQUIRE(::pipe(ready) == 0);
        pid = ::fork();
        if (pid == 0) {
            const char done = !locks || lock_as(file, rank) ? 1 : 0;
            static_cast<void>(!::write(ready[1], &done, 1));
            ::pause();
            ::_exit(0);
        }
        char done = 0;
        REQUIRE(::read(ready[0], &done, 1) == 1);
        CHECK(done == 1);
        ::close(ready[0]);
        ::close(ready[1]);
    }
    ~holder() {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    pid_t pid;
};

}  // namespace

TEST_CASE("only a process that has locked the byte of a rank is that rank") {
    const auto file = ucs::memory::make_memory_file("hawser-test", 4096);
    REQUIRE(file);
    REQUIRE(lock_as(file->get(), 0));
    const holder one(file->get(), 1, true), idle(file->get(), 1, false);
    CHECK(is_locked_by(file->get(), 1, one.pid));
    CHECK_FALSE(is_locked_by(file->get(), 1, idle.pid));
    CHECK_FALSE(is_locked_by(file->get(), 1, ::getpid()));
    CHECK_FALSE(is_locked_by(file->get(), 2, one.pid));
    CHECK_FALSE(is_locked_by(file->get(), 0, ::getpid()));
    CHECK_FALSE(lock_as(file->get(), 1));
}
