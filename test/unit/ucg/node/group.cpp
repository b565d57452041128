#include "test/unit/ucg/node/group.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "test/support/sanitizer.hpp"

using namespace ucg::node;

namespace test {
namespace {

constexpr unsigned timeout_of_tests = instrumented ? 250 : 60;  // seconds

std::string run_rank(const shared_memory& memory, std::span<const pid_t> pids, rank_t rank,
                     const node_body& body) {
    watch lives(pids);
    // Children have what their parent had, at the same addresses.
    std::vector<process_identity> identities(pids.size(), process_identity::own());
    for (std::size_t i = 0; i < pids.size(); ++i)
        identities[i].pid = pids[i];
    const local_peers peers(identities);
    early_limit early;
    node_rank me{memory, lives, rank, peers, early};
    return body(me);
}

// The threads share one mapping, because ThreadSanitizer identifies memory by its address.
std::string run_threads(int fd, const geometry& layout, const node_body& body) {
    auto memory = shared_memory::attach(fd, layout);
    if (!memory) return "attach";
    std::vector<std::string> wrong(layout.ranks);
    const std::vector<pid_t> pids(layout.ranks, ::getpid());
    std::vector<std::thread> threads;
    for (rank_t rank = 0; rank < layout.ranks; ++rank)
        threads.emplace_back([&, rank] { wrong[rank] = run_rank(*memory, pids, rank, body); });
    for (std::thread& each : threads)
        each.join();
    for (const std::string& each : wrong)
        if (!each.empty()) return each;
    return {};
}

// Shared memory by which the processes of a group find each other and return their complaints.
struct board {
    static constexpr std::size_t most = 64;
    struct note {
        pid_t pid;
        char text[252];
    };
    note ranks[most];
};

// Waits at the pipe until all processes exist, so that their pids are on the board.
[[noreturn]] void be_rank(int fd, int gate, const geometry& layout, board& all, rank_t rank,
                          const node_body& body) {
    ::alarm(timeout_of_tests);
    char none;
    while (::read(gate, &none, 1) > 0) {
    }
    std::vector<pid_t> pids;
    for (rank_t i = 0; i < layout.ranks; ++i)
        pids.push_back(all.ranks[i].pid);
    auto memory = shared_memory::attach(fd, layout);
    const std::string wrong = memory ? run_rank(*memory, pids, rank, body) : "attach";
    auto& text = all.ranks[rank].text;
    text[wrong.copy(text, sizeof text - 1)] = 0;
    ::_exit(0);
}

std::string collect(board& all, rank_t ranks) {
    std::string wrong;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        int status = 0;
        ::waitpid(all.ranks[rank].pid, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && wrong.empty())
            wrong = fmt::format("rank {}: signal {}", rank, WTERMSIG(status));
        if (all.ranks[rank].text[0] != 0 && wrong.empty()) wrong = all.ranks[rank].text;
    }
    return wrong;
}

std::string run_processes(int fd, const geometry& layout, const node_body& body) {
    void* const shared =
        ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int gate[2];
    if (shared == MAP_FAILED || layout.ranks > board::most || ::pipe(gate) != 0) return "no board";
    board& all = *static_cast<board*>(shared);
    static_cast<void>(process_identity::own());  // before the first child
    for (rank_t rank = 0; rank < layout.ranks; ++rank) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::close(gate[1]);
            be_rank(fd, gate[0], layout, all, rank, body);
        }
        all.ranks[rank].pid = pid;
    }
    ::close(gate[1]);
    std::string wrong = collect(all, layout.ranks);
    ::close(gate[0]);
    ::munmap(shared, sizeof(board));
    return wrong;
}

}  // namespace

geometry small_node(rank_t ranks) {
    geometry layout;
    layout.ranks = ranks;
    layout.mailboxes = 2;
    layout.mailbox_bytes = 64;
    layout.slots = 3;
    layout.slot_bytes = page;
    layout.ring_bytes = 1024;
    return layout;
}

std::string run_node(const geometry& layout, ranks_are kind, const node_body& body) {
    auto file = shared_memory::make(layout);
    if (!file) return "make";
    return kind == ranks_are::threads ? run_threads(file->get(), layout, body)
                                      : run_processes(file->get(), layout, body);
}

}  // namespace test
