// A worker with few descriptors. Many peers of one process connect to it, each with its own key
// pair. An honest peer of the same process keeps sending, and a new peer must be served at the end.
//
//   faulty_many_peers [--peers N]
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>

#include "test/adversary/faulty_peer/program.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/wireup/connection.hpp"

namespace adversary {
namespace {

using clock = std::chrono::steady_clock;
constexpr auto time_limit = std::chrono::seconds(60);
constexpr rlim_t limit_of_victim = 200;
constexpr std::size_t budget_of_victim = 136;  // see ucs/descriptor/descriptor_budget.hpp

void limit_descriptors(rlim_t wanted) {
    rlimit limit{};
    must(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit failed");
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    must(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit failed");
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    DIR* const folder = ::opendir("/proc/self/fd");
    must(folder != nullptr, "/proc/self/fd cannot be read");
    while (::readdir(folder) != nullptr)
        ++count;
    ::closedir(folder);
    return count;
}

// A worker of the peers' process with one endpoint to the victim.
class member {
public:
    member(ucp_context_h context, const std::vector<std::byte>& victim)
        : worker_(make_worker(context)),
          ep_(make_ep(
              worker_, victim,
              [](void* arg, ucp_ep_h, ucs_status_t status) {
                  static_cast<member*>(arg)->failure_ = status;
              },
              this)) {}

    void progress() { ucp_worker_progress(worker_); }
    // Requests the connection, and sends nothing.
    void connect() { ucp::wireup::handle(ucp::capi::from(ep_), ucp::wireup::event::use); }
    [[nodiscard]] bool is_connected() const {
        return ucp::wireup::state_of(ucp::capi::from(ep_)) == ucp::wireup::state::ready;
    }
    // Returns true if the message was passed to the kernel.
    [[nodiscard]] bool send(std::uint64_t number) {
        ucp_request_param_t param{};
        const ucs_status_ptr_t sending = ucp_tag_send_nbx(ep_, &number, sizeof number, 1, &param);
        if (!UCS_PTR_IS_PTR(sending)) return UCS_PTR_RAW_STATUS(sending) == UCS_OK;
        const auto limit = clock::now() + time_limit;
        while (ucp_request_check_status(sending) == UCS_INPROGRESS && clock::now() < limit)
            progress();
        const ucs_status_t status = ucp_request_check_status(sending);
        ucp_request_free(sending);
        return status == UCS_OK;
    }
    [[nodiscard]] ucs_status_t failure() const noexcept { return failure_; }

private:
    ucs_status_t failure_ = UCS_OK;
    ucp_worker_h worker_;
    ucp_ep_h ep_;
};

// Message numbers of the honest peer and of the new peer.
constexpr std::uint64_t last_number = ~std::uint64_t{0};

int run_peers(std::FILE* from_victim, unsigned peers) {
    limit_descriptors(RLIM_INFINITY);
    const auto victim = read_from(from_victim);
    must(victim.has_value(), "the victim says nothing");
    const ucp_context_h context = make_context();
    member honest(context, victim->address);
    must(honest.send(0), "the honest peer is not served at the beginning");
    std::vector<std::unique_ptr<member>> members;
    std::uint64_t sent = 0;
    for (unsigned i = 0; i < peers; ++i) {
        members.push_back(std::make_unique<member>(context, victim->address));
        members.back()->connect();
        const auto limit = clock::now() + time_limit;
        while (!members.back()->is_connected() && members.back()->failure() == UCS_OK) {
            for (const auto& each : members)
                each->progress();
            must(clock::now() < limit, "a peer is neither served nor refused");
        }
        must(i % 8 != 0 || honest.send(++sent), "the honest peer cannot send any more");
    }
    member newcomer(context, victim->address);
    must(newcomer.send(last_number), "the newcomer is not served");
    for (int turns = 0; turns < 1000; ++turns) {
        for (const auto& each : members)
            each->progress();
        honest.progress();
        newcomer.progress();
    }
    must(honest.failure() == UCS_OK && newcomer.failure() == UCS_OK,
         "an endpoint of the honest peer or of the newcomer has ended");
    std::size_t ended = 0;
    for (const auto& each : members) {
        must(each->failure() == UCS_OK || each->failure() == UCS_ERR_EXCEEDS_LIMIT ||
                 each->failure() == UCS_ERR_CONNECTION_RESET,
             "a peer was told something else");
        if (each->failure() == UCS_ERR_EXCEEDS_LIMIT) ++ended;
    }
    std::printf("%zu of %u peers were told that they are too many\n", ended, peers);
    must(peers < limit_of_victim / 2 || ended > 0, "no peer was disconnected");
    std::fflush(nullptr);
    ::_exit(0);
}

int run_victim(std::FILE* to_peers, pid_t peers_process) {
    const ucp_context_h context = make_context();
    const ucp_worker_h worker = make_worker(context);
    write_to(to_peers, {address_of(worker), {}, 0});
    std::size_t most = 0;
    std::uint64_t expected = 0;
    bool newcomer_came = false;
    const auto limit = clock::now() + 2 * time_limit;
    int status = 0;
    bool has_ended = false;
    while (!has_ended || !newcomer_came) {
        ucp_worker_progress(worker);
        ucp_tag_recv_info_t info{};
        if (ucp_tag_message_h message = ucp_tag_probe_nb(worker, 0, 0, 1, &info);
            message != nullptr) {
            std::uint64_t number = 0;
            ucp_request_param_t param{};
            const ucs_status_ptr_t receiving =
                ucp_tag_msg_recv_nbx(worker, &number, sizeof number, message, &param);
            must(!UCS_PTR_IS_PTR(receiving), "a message of 8 bytes is not here at once");
            newcomer_came = newcomer_came || number == last_number;
            must(number == last_number || number == expected++, "a message was lost");
        }
        most = std::max(most, open_descriptors());
        has_ended = has_ended || ::waitpid(peers_process, &status, WNOHANG) == peers_process;
        must(!has_ended || (WIFEXITED(status) && WEXITSTATUS(status) == 0),
             "the peers' process failed");
        must(clock::now() < limit, "not within the time");
    }
    std::printf("%zu descriptors at most, of a budget of %zu\n", most, budget_of_victim);
    must(most < budget_of_victim, "the peers have used up the descriptors");
    std::fflush(nullptr);
    ::_exit(0);
}

}  // namespace
}  // namespace adversary

int main(int argc, char** argv) {
    unsigned peers = 150;
    if (argc == 3 && std::strcmp(argv[1], "--peers") == 0)
        peers = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
    adversary::limit_descriptors(adversary::limit_of_victim);
    int to_peers[2];
    adversary::must(::pipe(to_peers) == 0, "pipe failed");
    const pid_t peers_process = ::fork();
    adversary::must(peers_process >= 0, "fork failed");
    if (peers_process == 0) {
        ::close(to_peers[1]);
        return adversary::run_peers(::fdopen(to_peers[0], "r"), peers);
    }
    ::close(to_peers[0]);
    return adversary::run_victim(::fdopen(to_peers[1], "w"), peers_process);
}
