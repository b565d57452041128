#include "test/unit/ucg/oob/ranks.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "ucs/type/unique_fd.hpp"

namespace test {
namespace {

constexpr std::size_t longest_text = 252;

struct result {
    char text[longest_text + 1];
};

std::byte pattern(std::uint32_t rank, unsigned round, std::size_t i) {
    return static_cast<std::byte>(rank * 31 + round * 7 + i * 3 + (i >> 8));
}

std::string end_of(pid_t process, const result& outcome) {
    int exit_status = 0;
    ::waitpid(process, &exit_status, 0);
    if (WIFSIGNALED(exit_status) && WTERMSIG(exit_status) != SIGKILL)
        return fmt::format("signal {}", WTERMSIG(exit_status));
    if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) != 0)
        return fmt::format("exit code {}", WEXITSTATUS(exit_status));
    return outcome.text;
}

std::string all_errors(const std::vector<std::string>& of_ranks) {
    std::string all;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
        if (!of_ranks[rank].empty())
            all += fmt::format("{}rank {}: {}", all.empty() ? "" : "; ", rank, of_ranks[rank]);
    return all;
}

}  // namespace

std::string run_as_threads(std::uint32_t ranks, const rank_body& body) {
    std::vector<std::string> wrong(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] { wrong[rank] = body(rank); });
    for (std::thread& each : threads)
        each.join();
    return all_errors(wrong);
}

std::string run_as_processes(std::uint32_t ranks, const rank_body& body) {
    auto* const results =
        static_cast<result*>(::mmap(nullptr, ranks * sizeof(result), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (results == MAP_FAILED) return "mmap";
    std::vector<pid_t> processes;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        processes.push_back(::fork());
        if (processes.back() != 0) continue;
        ::alarm(static_cast<unsigned>(long_enough));
        const std::string wrong = body(rank);
        results[rank].text[wrong.copy(results[rank].text, longest_text)] = 0;
        ::_exit(0);
    }
    std::vector<std::string> wrong(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        wrong[rank] = end_of(processes[rank], results[rank]);
    ::munmap(results, ranks * sizeof(result));
    return all_errors(wrong);
}

ucs_status_t finish(const ucg_oob_t& oob, void* request) noexcept {
    ucs_status_t status = UCS_INPROGRESS;
    for (useconds_t pause = 2; (status = oob.test(oob.arg, request)) == UCS_INPROGRESS;
         pause = std::min<useconds_t>(2 * pause, 1000))
        ::usleep(pause);
    oob.release(oob.arg, request);
    return status;
}

ucs_status_t gather(const ucg_oob_t& oob, const void* send, void* recv,
                    std::size_t bytes) noexcept {
    void* request = nullptr;
    const ucs_status_t status = oob.allgather(oob.arg, send, recv, bytes, &request);
    return status != UCS_OK ? status : finish(oob, request);
}

std::string check_round(const ucg_oob_t& oob, unsigned round, std::size_t bytes) {
    std::vector<std::byte> block(bytes), all(bytes * oob.size);
    for (std::size_t i = 0; i < bytes; ++i)
        block[i] = pattern(oob.rank, round, i);
    const ucs_status_t status = gather(oob, block.data(), all.data(), bytes);
    if (status != UCS_OK) return fmt::format("round {}: {}", round, ucs_status_string(status));
    for (std::uint32_t rank = 0; rank < oob.size; ++rank)
        for (std::size_t i = 0; i < bytes; ++i)
            if (all[rank * bytes + i] != pattern(rank, round, i))
                return fmt::format("round {}: byte {} of rank {} is wrong", round, i, rank);
    return {};
}

ucs_status_t look_up(const ucg_oob_t& oob, std::uint64_t number, std::uint32_t rank,
                     std::vector<std::byte>& into) {
    std::size_t bytes = into.size();
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = oob.lookup(oob.arg, number, rank, into.data(), &bytes)) == UCS_INPROGRESS) {
        oob.progress(oob.arg);
        ::usleep(100);
    }
    if (status == UCS_OK) into.resize(bytes);
    return status;
}

std::string check_lookups(const ucg_oob_t& oob, std::uint64_t number, std::size_t bytes) {
    const auto block_of = [&](std::uint32_t rank) {
        std::vector<std::byte> made(bytes + rank % 3);
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = pattern(rank, static_cast<unsigned>(number), i);
        return made;
    };
    const auto block = block_of(oob.rank);
    std::uint64_t got = 0;
    ucs_status_t status = oob.publish(oob.arg, block.data(), block.size(), &got);
    if (status != UCS_OK || got != number)
        return fmt::format("publication {} is {}: {}", number, got, ucs_status_string(status));
    char none = 0;
    if (gather(oob, &none, &none, 0) != UCS_OK) return "the round that follows";
    for (std::uint32_t distance = 0; distance < oob.size; ++distance) {
        const std::uint32_t rank = (oob.rank + distance) % oob.size;
        std::vector<std::byte> found(bytes + 2);
        status = look_up(oob, number, rank, found);
        if (status != UCS_OK)
            return fmt::format("block {} of rank {}: {}", number, rank, ucs_status_string(status));
        if (found != block_of(rank))
            return fmt::format("block {} of rank {} is wrong", number, rank);
    }
    if (gather(oob, &none, &none, 0) != UCS_OK) return "the last round";
    for (int i = 0; i < 100'000; ++i) {
        if ((status = oob.withdraw(oob.arg, number)) == UCS_OK) return {};
        ::usleep(100);
    }
    return fmt::format("withdrawing: {}", ucs_status_string(status));
}

std::string rounds_around_children(oob_handle& oob) {
    const auto fork_one = [&] {
        const pid_t child = ::fork();
        if (child != 0) return child;
        oob.reset();
        ::_exit(0);
    };
    if (auto wrong = check_round(*oob, 0, 100); !wrong.empty()) return wrong;
    if (auto wrong = end_of(fork_one(), {}); !wrong.empty()) return "child: " + wrong;
    if (auto wrong = check_round(*oob, 1, 100); !wrong.empty()) return wrong;
    std::vector<std::uint32_t> all(oob->size, ~0U);
    void* request = nullptr;
    if (oob->allgather(oob->arg, &oob->rank, all.data(), 4, &request) != UCS_OK) return "allgather";
    const pid_t child = fork_one();
    const ucs_status_t status = finish(*oob, request);
    if (auto wrong = end_of(child, {}); !wrong.empty()) return "child: " + wrong;
    if (status != UCS_OK) return fmt::format("round 2: {}", ucs_status_string(status));
    for (std::uint32_t rank = 0; rank < oob->size; ++rank)
        if (all[rank] != rank) return "round 2: a wrong block";
    return check_round(*oob, 3, 100);
}

std::string expect_failure(const ucg_oob_t& oob, ucs_status_t expected, std::size_t bytes) {
    std::vector<std::byte> block(bytes), all(bytes * oob.size);
    ucs_status_t status = UCS_OK;
    for (int i = 0; i < 10'000 && status == UCS_OK; ++i)
        status = gather(oob, block.data(), all.data(), bytes);
    if (status != expected)
        return fmt::format("{} instead of {}", ucs_status_string(status),
                           ucs_status_string(expected));
    if (gather(oob, block.data(), all.data(), bytes) != expected)
        return "a later round has another status";
    return {};
}

std::uint16_t free_port() {
    // The port is below the kernel's range for connecting sockets, because such a socket could take
    // it meanwhile.
    static std::mt19937 random(static_cast<unsigned>(::getpid()));
    for (;;) {
        const auto port = static_cast<std::uint16_t>(15000 + random() % 17000);
        const ucs::unique_fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
            return port;
    }
}

std::string exchange::on_threads(const body& run) const {
    return run_as_threads(size, [&](std::uint32_t rank) -> std::string {
        oob_handle oob = join(rank);
        return oob ? run(oob) : "not created";
    });
}

std::string exchange::on_processes(const body& run) const {
    return run_as_processes(size, [&](std::uint32_t rank) -> std::string {
        oob_handle oob = join(rank);
        return oob ? run(oob) : "not created";
    });
}

exchange tcp_exchange(std::uint32_t size) {
    return {size,
            [size, port = free_port()](std::uint32_t rank) { return tcp_rank(rank, size, port); }};
}

oob_handle tcp_rank(std::uint32_t rank, std::uint32_t size, std::uint16_t port, double timeout,
                    const char* job) {
    ucg_oob_tcp_params_t params = UCG_OOB_TCP_PARAMS_INIT;
    params.rank = rank;
    params.size = size;
    params.host = "127.0.0.1";
    params.port = port;
    params.timeout = timeout;
    params.job = job;
    ucg_oob_t* made = nullptr;
    return oob_handle(ucg_oob_create_tcp(&params, &made) == UCS_OK ? made : nullptr);
}

oob_handle folder_rank(std::uint32_t rank, std::uint32_t size, const std::string& path,
                       const char* job, double timeout) {
    ucg_oob_directory_params_t params = UCG_OOB_DIRECTORY_PARAMS_INIT;
    params.rank = rank;
    params.size = size;
    params.path = path.c_str();
    params.job = job;
    params.timeout = timeout;
    ucg_oob_t* made = nullptr;
    return oob_handle(ucg_oob_create_directory(&params, &made) == UCS_OK ? made : nullptr);
}

}  // namespace test
