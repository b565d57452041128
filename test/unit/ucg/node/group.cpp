#include "test/unit/ucg/node/group.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "test/support/sanitizer.hpp"

using namespace ucg::node;

namespace test {
namespace {

constexpr unsigned patience_of_tests = instrumented ? 250 : 60;  // seconds

std::string run_rank(const segment& memory, std::span<const pid_t> pids, rank_t rank,
                     const node_body& body) {
    watch lives(pids);
    // Children have what their parent had, in the same place.
    std::vector<process_mark> marks(pids.size(), process_mark::own());
    for (std::size_t i = 0; i < pids.size(); ++i)
        marks[i].pid = pids[i];
    const neighbours others(marks);
    early_limit early;
    node_rank me{memory, lives, rank, others, early};
    return body(me);
}

// They share one mapping: ThreadSanitizer tells places apart by their addresses.
std::string run_threads(int fd, const geometry& like, const node_body& body) {
    auto memory = segment::attach(fd, like);
    if (!memory) return "attach";
    std::vector<std::string> wrong(like.ranks);
    const std::vector<pid_t> pids(like.ranks, ::getpid());
    std::vector<std::thread> threads;
    for (rank_t rank = 0; rank < like.ranks; ++rank)
        threads.emplace_back([&, rank] { wrong[rank] = run_rank(*memory, pids, rank, body); });
    for (std::thread& each : threads)
        each.join();
    for (const std::string& each : wrong)
        if (!each.empty()) return each;
    return {};
}

// What the processes of a group know of each other.
struct board {
    static constexpr std::size_t most = 64;
    struct note {
        pid_t pid;
        char text[252];
    };
    note ranks[most];
};

// Waits at the pipe until all are born, so that their numbers are there.
[[noreturn]] void be_rank(int fd, int gate, const geometry& like, board& all, rank_t rank,
                          const node_body& body) {
    ::alarm(patience_of_tests);
    char none;
    while (::read(gate, &none, 1) > 0) {
    }
    std::vector<pid_t> pids;
    for (rank_t i = 0; i < like.ranks; ++i)
        pids.push_back(all.ranks[i].pid);
    auto memory = segment::attach(fd, like);
    const std::string wrong = memory ? run_rank(*memory, pids, rank, body) : "attach";
    auto& text = all.ranks[rank].text;
    text[wrong.copy(text, sizeof text - 1)] = 0;
    ::_exit(0);
}

std::string collect(board& all, rank_t ranks) {
    std::string wrong;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        int how = 0;
        ::waitpid(all.ranks[rank].pid, &how, 0);
        if (WIFSIGNALED(how) && WTERMSIG(how) != SIGKILL && wrong.empty())
            wrong = fmt::format("rank {}: signal {}", rank, WTERMSIG(how));
        if (all.ranks[rank].text[0] != 0 && wrong.empty()) wrong = all.ranks[rank].text;
    }
    return wrong;
}

std::string run_processes(int fd, const geometry& like, const node_body& body) {
    void* const shared =
        ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int gate[2];
    if (shared == MAP_FAILED || like.ranks > board::most || ::pipe(gate) != 0) return "no board";
    board& all = *static_cast<board*>(shared);
    static_cast<void>(process_mark::own());  // before the first child
    for (rank_t rank = 0; rank < like.ranks; ++rank) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::close(gate[1]);
            be_rank(fd, gate[0], like, all, rank, body);
        }
        all.ranks[rank].pid = pid;
    }
    ::close(gate[1]);
    std::string wrong = collect(all, like.ranks);
    ::close(gate[0]);
    ::munmap(shared, sizeof(board));
    return wrong;
}

}  // namespace

geometry small_node(rank_t ranks) {
    geometry like;
    like.ranks = ranks;
    like.mailboxes = 2;
    like.mailbox_bytes = 64;
    like.slots = 3;
    like.slot_bytes = page;
    like.ring_bytes = 1024;
    return like;
}

std::string run_node(const geometry& like, ranks_are what, const node_body& body) {
    auto file = segment::make(like);
    if (!file) return "make";
    return what == ranks_are::threads ? run_threads(file->get(), like, body)
                                      : run_processes(file->get(), like, body);
}

}  // namespace test
