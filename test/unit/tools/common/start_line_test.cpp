#include "tools/common/start_line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "test/support/temp_dir.hpp"

using tools::start_line;

namespace {

constexpr std::uint32_t members = 3, rounds = 200;

// How many have come to each round, as all processes see it.
struct arrivals {
    std::atomic<std::uint32_t> of[rounds];
};

// 0: in each round nobody went on before all had come.
int walk(start_line& line, arrivals& seen) {
    for (std::atomic<std::uint32_t>& round : seen.of) {
        round.fetch_add(1);
        if (!line.meet([] {})) return 2;
        if (round.load() != members) return 3;
    }
    return 0;
}

}  // namespace

TEST_CASE("start_line: nobody goes on before all have come") {
    void* const memory = ::mmap(nullptr, sizeof(arrivals), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto& seen = *new (memory) arrivals{};
    start_line mine;
    REQUIRE(mine.make(members));
    const start_line::address where = mine.where();
    std::vector<pid_t> others;
    for (std::uint32_t i = 1; i < members; ++i) {
        const pid_t process = ::fork();
        REQUIRE(process >= 0);
        if (process == 0) {
            start_line joined;
            ::_exit(joined.join(where) ? walk(joined, seen) : 1);
        }
        others.push_back(process);
    }
    CHECK(walk(mine, seen) == 0);
    for (const pid_t each : others) {
        int how = 0;
        REQUIRE(::waitpid(each, &how, 0) == each);
        CHECK(how == 0);
    }
    ::munmap(memory, sizeof(arrivals));
}

TEST_CASE("start_line: what others call by the same name is not joined") {
    start_line mine, other;
    REQUIRE(mine.make(2));
    start_line::address wrong = mine.where();
    ++wrong.token;
    CHECK_FALSE(other.join(wrong));
    CHECK_FALSE(other.is_open());
    wrong = mine.where();
    wrong.file = 0;  // whatever the program reads from
    CHECK_FALSE(other.join(wrong));
    CHECK(other.join(mine.where()));
}

TEST_CASE("start_line: nobody can shorten what others have mapped") {
    start_line mine, other;
    REQUIRE(mine.make(2));
    CHECK(::ftruncate(static_cast<int>(mine.where().file), 0) != 0);
    CHECK(other.join(mine.where()));
    // A file that its owner can still shorten, with the same content.
    const int alike = ::memfd_create("start line", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(alike >= 0);
    struct stat about {};
    REQUIRE(::fstat(static_cast<int>(mine.where().file), &about) == 0);
    std::vector<char> content(static_cast<std::size_t>(about.st_size));
    REQUIRE(::pread(static_cast<int>(mine.where().file), content.data(), content.size(), 0) ==
            about.st_size);
    REQUIRE(::pwrite(alike, content.data(), content.size(), 0) == about.st_size);
    start_line::address where = mine.where();
    where.file = static_cast<std::uint64_t>(alike);
    start_line third;
    CHECK_FALSE(third.join(where));
    ::close(alike);
}

// A reader of a pipe notices a writer that has opened and closed it.
TEST_CASE("start_line: a pipe is not opened") {
    const test::temp_dir folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const int named = ::open(pipe.c_str(), O_PATH | O_CLOEXEC);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE((named >= 0 && reader >= 0));
    pollfd waiting{reader, POLLIN, 0};
    CHECK(::poll(&waiting, 1, 0) == 0);
    start_line other;
    CHECK_FALSE(
        other.join({static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(named), 1}));
    CHECK(::poll(&waiting, 1, 0) == 0);
    ::close(reader);
    ::close(named);
}

TEST_CASE("start_line: one that does not come is not waited for") {
    start_line mine;
    unsigned idle = 0;
    REQUIRE(mine.make(2, 20));
    CHECK_FALSE(mine.meet([&] { ++idle; }));
    CHECK(idle > 0);
}
