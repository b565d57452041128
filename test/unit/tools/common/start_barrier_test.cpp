#include "tools/common/start_barrier.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

#include "test/support/temp_dir.hpp"

using tools::start_barrier;

namespace {

constexpr std::uint32_t members = 3, rounds = 200;

// The number of processes that have arrived in each round, in shared memory.
struct arrivals {
    std::atomic<std::uint32_t> at_round[rounds];
};

// Returns 0 if in each round no process continued before all had arrived.
int pass_rounds(start_barrier& barrier, arrivals& seen) {
    for (std::atomic<std::uint32_t>& round : seen.at_round) {
        round.fetch_add(1);
        if (!barrier.wait([] {})) return 2;
        if (round.load() != members) return 3;
    }
    return 0;
}

}  // namespace

TEST_CASE("start_barrier: no process continues before all have arrived") {
    void* const memory = ::mmap(nullptr, sizeof(arrivals), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto& seen = *new (memory) arrivals{};
    start_barrier own;
    REQUIRE(own.make(members));
    const start_barrier::address where = own.where();
    std::vector<pid_t> others;
    for (std::uint32_t i = 1; i < members; ++i) {
        const pid_t process = ::fork();
        REQUIRE(process >= 0);
        if (process == 0) {
            start_barrier joined;
            ::_exit(joined.join(where) ? pass_rounds(joined, seen) : 1);
        }
        others.push_back(process);
    }
    CHECK(pass_rounds(own, seen) == 0);
    for (const pid_t each : others) {
        int status = 0;
        REQUIRE(::waitpid(each, &status, 0) == each);
        CHECK(status == 0);
    }
    ::munmap(memory, sizeof(arrivals));
}

TEST_CASE("start_barrier: a file with another token is not joined") {
    start_barrier own, other;
    REQUIRE(own.make(2));
    start_barrier::address wrong = own.where();
    ++wrong.token;
    CHECK_FALSE(other.join(wrong));
    CHECK_FALSE(other.is_open());
    wrong = own.where();
    wrong.file = 0;  // the standard input of the program
    CHECK_FALSE(other.join(wrong));
    CHECK(other.join(own.where()));
}

TEST_CASE("start_barrier: the shared file cannot be shortened") {
    start_barrier own, other;
    REQUIRE(own.make(2));
    CHECK(::ftruncate(static_cast<int>(own.where().file), 0) != 0);
    CHECK(other.join(own.where()));
    // A file with the same content that its owner can still shorten.
    const int alike = ::memfd_create("start barrier", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(alike >= 0);
    struct stat about {};
    REQUIRE(::fstat(static_cast<int>(own.where().file), &about) == 0);
    std::vector<char> content(static_cast<std::size_t>(about.st_size));
    REQUIRE(::pread(static_cast<int>(own.where().file), content.data(), content.size(), 0) ==
            about.st_size);
    REQUIRE(::pwrite(alike, content.data(), content.size(), 0) == about.st_size);
    start_barrier::address where = own.where();
    where.file = static_cast<std::uint64_t>(alike);
    start_barrier third;
    CHECK_FALSE(third.join(where));
    ::close(alike);
}

// The reader of a pipe would detect that a writer has opened and closed it.
TEST_CASE("start_barrier: a pipe is not opened") {
    const test::temp_dir folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const int named = ::open(pipe.c_str(), O_PATH | O_CLOEXEC);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE((named >= 0 && reader >= 0));
    pollfd waiting{reader, POLLIN, 0};
    CHECK(::poll(&waiting, 1, 0) == 0);
    start_barrier other;
    CHECK_FALSE(
        other.join({static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(named), 1}));
    CHECK(::poll(&waiting, 1, 0) == 0);
    ::close(reader);
    ::close(named);
}

TEST_CASE("start_barrier: a missing process is not waited for beyond the limit") {
    start_barrier own;
    unsigned idle = 0;
    REQUIRE(own.make(2, 20));
    CHECK_FALSE(own.wait([&] { ++idle; }));
    CHECK(idle > 0);
}
