// Tests of byte locks, and of the lock's owner as the kernel reports it.
#include "ucs/sys/byte_lock.hpp"

#include <cerrno>

#include "test/support/child.hpp"
#include "ucs/memory/mapped.hpp"

using namespace ucs::sys;

namespace {

// A child that has the file, and locks a byte of it if `locks` is set.
struct holder : test::child_process {
    holder(int file, off_t byte, bool locks)
        : child_process([&](int fd) {
              const char done = !locks || lock_byte(file, byte) ? 1 : 0;
              static_cast<void>(!::send(fd, &done, 1, 0));
              ::pause();
          }) {
        char done = 0;
        receive(done);
        CHECK(done == 1);
    }
};

}  // namespace

TEST_CASE("a byte is locked by the process that locked it, not by one that has the descriptor") {
    const auto file = ucs::memory::make_memory_file("hawser-test", 4096);
    REQUIRE(file);
    const holder one(file->get(), 1, true), idle(file->get(), 1, false);
    CHECK(is_byte_locked_by(file->get(), 1, one.pid()));
    CHECK_FALSE(is_byte_locked_by(file->get(), 1, idle.pid()));
    CHECK_FALSE(is_byte_locked_by(file->get(), 1, ::getpid()));
    CHECK_FALSE(is_byte_free(file->get(), 1));
    errno = 0;
    CHECK_FALSE(lock_byte(file->get(), 1));
    CHECK((errno == EAGAIN || errno == EACCES));
}

TEST_CASE("a lock is on one byte, and its own process does not see it") {
    const auto file = ucs::memory::make_memory_file("hawser-test", 4096);
    REQUIRE(file);
    const holder one(file->get(), 1, true);
    CHECK(is_byte_free(file->get(), 0));
    CHECK(is_byte_free(file->get(), 2));
    CHECK_FALSE(is_byte_locked_by(file->get(), 2, one.pid()));
    REQUIRE(lock_byte(file->get(), 0));
    CHECK(is_byte_free(file->get(), 0));
    CHECK_FALSE(is_byte_locked_by(file->get(), 0, ::getpid()));
}

TEST_CASE("a byte is free when the process that locked it has died") {
    const auto file = ucs::memory::make_memory_file("hawser-test", 4096);
    REQUIRE(file);
    holder one(file->get(), 1, true);
    CHECK_FALSE(is_byte_free(file->get(), 1));
    one.kill();
    CHECK(is_byte_free(file->get(), 1));
    CHECK(lock_byte(file->get(), 1));
}

TEST_CASE("if the kernel call fails, a byte is neither free nor locked") {
    CHECK_FALSE(lock_byte(-1, 0));
    CHECK_FALSE(is_byte_free(-1, 0));
    CHECK_FALSE(is_byte_locked_by(-1, 0, ::getpid()));
}
