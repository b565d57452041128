// A worker that a faulty peer attacks while an honest peer sends to it. Every message of the honest
// peer arrives once and unchanged, every operation ends, nothing outside of the exposed memory is
// written, and no state of the faulty peer remains.
//
//   faulty_peer [--seeds N] [--first SEED]     N * M / 10 where HAWSER_SEEDS=M is set
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <random>
#include <string>

#include "test/adversary/faulty_peer/program.hpp"
#include "ucp/capi/handles.hpp"

namespace adversary {
namespace {

using clock = std::chrono::steady_clock;
constexpr auto time_limit = std::chrono::seconds(90);
constexpr std::size_t longest_message = 65536;
constexpr std::size_t honest_messages = 60;

// A child process whose input and output are pipes to this process; see introduction.
class child {
public:
    explicit child(std::uint64_t seed) {
        int to_child[2];
        int from_child[2];
        must(::pipe(to_child) == 0 && ::pipe(from_child) == 0, "pipe failed");
        ::posix_spawn_file_actions_t actions;
        must(::posix_spawn_file_actions_init(&actions) == 0, "spawn failed");
        ::posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
        ::posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
        for (const int each : {to_child[0], to_child[1], from_child[0], from_child[1]})
            ::posix_spawn_file_actions_addclose(&actions, each);
        std::string number = std::to_string(seed);
        char name[] = "faulty_peer";
        char option[] = "--peer";
        char* arguments[] = {name, option, number.data(), nullptr};
        must(::posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, arguments, environ) == 0,
             "spawn failed");
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(to_child[0]);
        ::close(from_child[1]);
        in_ = ::fdopen(to_child[1], "w");
        out_ = ::fdopen(from_child[0], "r");
    }
    ~child() {
        if (!has_ended_) {
            ::kill(id_, SIGKILL);
            ::waitpid(id_, nullptr, 0);
        }
        std::fclose(in_);
        std::fclose(out_);
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    [[nodiscard]] std::FILE* in() const noexcept { return in_; }
    [[nodiscard]] std::FILE* out() const noexcept { return out_; }
    [[nodiscard]] bool has_ended() noexcept {
        has_ended_ = has_ended_ || ::waitpid(id_, &status_, WNOHANG) == id_;
        return has_ended_;
    }
    // Describes its end. It may have been killed by its own altered messages.
    [[nodiscard]] std::string ending() const {
        return WIFSIGNALED(status_) ? "signal " + std::to_string(WTERMSIG(status_))
                                    : "status " + std::to_string(WEXITSTATUS(status_));
    }
    // Stops a child that waits for a reply that it has altered itself.
    void stop() noexcept { ::kill(id_, SIGKILL); }

private:
    ::pid_t id_ = 0;
    int status_ = 0;
    std::FILE* in_ = nullptr;
    std::FILE* out_ = nullptr;
    bool has_ended_ = false;
};

// Header of the honest peer's messages. The faulty peer cannot forge them, because it does not know
// the secret.
struct honest_header {
    std::uint64_t secret;
    std::uint64_t number;
    std::uint64_t length;
};

std::byte pattern(std::uint64_t number, std::size_t index) {
    return static_cast<std::byte>(number * 31 + index * 7 + (index >> 8));
}

class attack {
public:
    explicit attack(std::uint64_t seed)
        : seed_(seed), random_(seed), secret_(random_()), context_(make_context()) {
        victim_ = make_worker(context_);
        honest_ = make_worker(context_);
        memory_ = new shared_memory(context_);
        ucp_am_handler_param_t handler{};
        handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                             UCP_AM_HANDLER_PARAM_FIELD_ARG;
        handler.id = am_id;
        handler.cb = on_active_message;
        handler.arg = this;
        must(ucp_worker_set_am_recv_handler(victim_, &handler) == UCS_OK, "no handler");
        to_victim_ = make_ep(honest_, address_of(victim_), on_honest_error, this);
        counts_.resize(honest_messages);
    }

    void run() {
        for (int i = 0; i < 8; ++i)
            receive();
        child faulty(seed_);
        const auto peer = read_from(faulty.out());
        must(peer.has_value(), "the faulty peer did not start");
        write_to(faulty.in(), {address_of(victim_), memory_->packed_key(), memory_->address()});
        to_faulty_ = make_ep(victim_, peer->address, on_faulty_error, this);
        must(ucp_ep_rkey_unpack(to_faulty_, peer->rkey.data(), &rkey_) == UCS_OK, "no key");
        const auto began = clock::now();
        bool stopped = false;
        while (!faulty.has_ended()) {
            progress();
            if (!faulty_lost_ && running_.size() < 40) talk_to(*peer);
            send_honest();
            if (!stopped && clock::now() - began > time_limit) {
                stopped = true;
                faulty.stop();
            }
        }
        ending_ = faulty.ending();
        wait("the honest peer's messages arrive", [&] {
            send_honest();
            return sent_ == honest_messages && honest_running_ == 0 && has_all_honest();
        });
        end();
    }

    [[nodiscard]] std::string summary() const {
        return std::to_string(rejected_) + " messages rejected, the faulty peer ended with " +
               ending_;
    }

private:
    struct operation {
        attack* owner;
        std::vector<std::byte> memory;
        std::list<operation>::iterator self;
        std::size_t received = 0;
    };

    void progress() {
        for (int i = 0; i < 4; ++i) {
            ucp_worker_progress(victim_);
            ucp_worker_progress(honest_);
        }
    }

    template<class Condition>
    void wait(const char* condition, const Condition& holds) {
        const auto limit = clock::now() + time_limit;
        while (!holds()) {
            progress();
            if (clock::now() < limit) continue;
            std::fprintf(stderr, "seed %llu: %s: not within %d s\n",
                         static_cast<unsigned long long>(seed_), condition,
                         static_cast<int>(time_limit.count()));
            ucp_worker_print_info(victim_, stderr);
            must(false, condition);
        }
    }

    // Returns an operation that begins, and the parameters of its call.
    std::pair<operation&, ucp_request_param_t> begin(std::list<operation>& in, std::size_t length) {
        in.push_back({this, std::vector<std::byte>(length), {}});
        operation& fresh = in.back();
        fresh.self = std::prev(in.end());
        ucp_request_param_t param{};
        param.op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        param.user_data = &fresh;
        return {fresh, param};
    }

    // --- the honest peer ---
    void send_honest() {
        while (sent_ < honest_messages && honest_running_ < 8) {
            const std::size_t length =
                sizeof(honest_header) +
                random_() % (sent_ % 3 == 0 ? longest_message - sizeof(honest_header) : 500);
            auto [fresh, param] = begin(honest_operations_, length);
            const honest_header header{secret_, sent_, length};
            std::memcpy(fresh.memory.data(), &header, sizeof header);
            for (std::size_t index = sizeof header; index < length; ++index)
                fresh.memory[index] = pattern(sent_, index);
            param.cb.send = [](void* request, ucs_status_t status, void* arg) {
                auto& done = *static_cast<operation*>(arg);
                must(status == UCS_OK, "a send of the honest peer failed");
                --done.owner->honest_running_;
                ucp_request_free(request);
                done.owner->honest_operations_.erase(done.self);
            };
            ++honest_running_;
            ++sent_;
            must(UCS_PTR_IS_PTR(
                     ucp_tag_send_nbx(to_victim_, fresh.memory.data(), length, 5, &param)),
                 "the honest peer cannot send");
        }
    }
    static void on_honest_error(void*, ucp_ep_h, ucs_status_t) {
        must(false, "the honest peer's endpoint failed");
    }
    [[nodiscard]] bool has_all_honest() const {
        return std::all_of(counts_.begin(), counts_.end(), [](unsigned each) { return each == 1; });
    }
    void note_received(const operation& done) {
        honest_header header;
        if (done.received < sizeof header) return;
        std::memcpy(&header, done.memory.data(), sizeof header);
        if (header.secret != secret_) return;
        must(header.number < honest_messages && header.length == done.received,
             "a message of the honest peer was changed");
        must(++counts_[header.number] == 1, "a message of the honest peer came twice");
        for (std::size_t index = sizeof header; index < header.length; ++index) {
            must(done.memory[index] == pattern(header.number, index),
                 "a message of the honest peer was changed");
        }
    }

    // --- the victim's receives, from any peer ---
    void receive() {
        auto [fresh, param] = begin(receives_, longest_message);
        param.cb.recv = [](void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                           void* arg) {
            auto& done = *static_cast<operation*>(arg);
            attack& self = *done.owner;
            if (status == UCS_OK) {
                must(info->length <= done.memory.size(), "more was received than there is room");
                done.received = info->length;
                self.note_received(done);
            }
            ucp_request_free(request);
            self.receives_.erase(done.self);
            if (!self.ends_) self.receive();
        };
        posted_.push_back(
            ucp_tag_recv_nbx(victim_, fresh.memory.data(), fresh.memory.size(), 0, 0, &param));
        must(UCS_PTR_IS_PTR(posted_.back()), "no receive");
    }

    static ucs_status_t on_active_message(void* arg, const void* header, std::size_t header_length,
                                          void* data, std::size_t length,
                                          const ucp_am_recv_param_t* param) {
        auto& self = *static_cast<attack*>(arg);
        unsigned sum = 0;
        const auto add = [&sum](const void* from, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                sum += static_cast<const std::uint8_t*>(from)[i];
        };
        add(header, header_length);
        if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
            add(data, length);
            self.sum_ += sum;
            return UCS_OK;
        }
        if (length > (std::size_t{1} << 20)) return UCS_OK;
        auto [fresh, receive] = self.begin(self.running_, length);
        receive.cb.recv_am = [](void* request, ucs_status_t, std::size_t, void* ended) {
            finish(request, ended);
        };
        const ucs_status_ptr_t started =
            ucp_am_recv_data_nbx(self.victim_, data, fresh.memory.data(), length, &receive);
        if (!UCS_PTR_IS_PTR(started)) self.running_.erase(fresh.self);
        return UCS_INPROGRESS;
    }

    // --- the victim's requests to the faulty peer ---
    static void finish(void* request, void* ended) {
        auto& done = *static_cast<operation*>(ended);
        ucp_request_free(request);
        done.owner->running_.erase(done.self);
    }
    static void on_faulty_error(void* arg, ucp_ep_h, ucs_status_t status) {
        must(status != UCS_OK, "an error without a status");
        static_cast<attack*>(arg)->faulty_lost_ = true;
    }
    void talk_to(const introduction& peer) {
        static constexpr std::size_t sizes[] = {8, 3000, 100000};
        auto [fresh, param] = begin(running_, sizes[random_() % 3]);
        param.cb.send = [](void* request, ucs_status_t, void* arg) { finish(request, arg); };
        void* const data = fresh.memory.data();
        const std::size_t length = fresh.memory.size();
        ucs_status_ptr_t started = nullptr;
        switch (random_() % 5) {
            case 0:
                started = ucp_tag_send_sync_nbx(to_faulty_, data, length, 1, &param);
                break;
            case 1:
                started = ucp_put_nbx(to_faulty_, data, std::min(length, shared_length),
                                      peer.memory, rkey_, &param);
                break;
            case 2:
                started = ucp_get_nbx(to_faulty_, data, std::min(length, shared_length),
                                      peer.memory, rkey_, &param);
                break;
            case 3: {
                std::size_t streamed = 0;
                param.cb.recv_stream = [](void* request, ucs_status_t, std::size_t, void* arg) {
                    finish(request, arg);
                };
                started = ucp_stream_recv_nbx(to_faulty_, data, length, &streamed, &param);
                break;
            }
            default:
                started = ucp_tag_send_nbx(to_faulty_, data, length, 1, &param);
        }
        if (!UCS_PTR_IS_PTR(started)) running_.erase(fresh.self);
    }

    // --- the end ---
    void end() {
        // All operations that waited for the faulty peer must end when it ends.
        wait("operations that wait for the faulty peer end", [&] { return running_.empty(); });
        ends_ = true;
        ucp_request_param_t force{};
        force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        force.flags = UCP_EP_CLOSE_FLAG_FORCE;
        ucp_rkey_destroy(rkey_);
        must(!UCS_PTR_IS_PTR(ucp_ep_close_nbx(to_faulty_, &force)), "a forced close waits");
        ucp::worker& victim = ucp::capi::from(victim_);
        wait("endpoints of the faulty peer go", [&] { return victim.endpoints().size() <= 1; });
        must(!UCS_PTR_IS_PTR(ucp_ep_close_nbx(to_victim_, &force)), "a forced close waits");
        wait("the endpoint of the honest peer goes",
             [&] { return victim.endpoints().size() == 0; });
        must(memory_->margins_are_untouched(),
             "memory outside of the exposed memory was written to");
        rejected_ = victim.log().rejected().count();
        ucp_worker_destroy(honest_);
        ucp_worker_destroy(victim_);
        delete memory_;
        ucp_cleanup(context_);
    }

    const std::uint64_t seed_;
    std::mt19937_64 random_;
    const std::uint64_t secret_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h victim_ = nullptr;
    ucp_worker_h honest_ = nullptr;
    shared_memory* memory_ = nullptr;
    ucp_ep_h to_victim_ = nullptr;  // of the honest peer
    ucp_ep_h to_faulty_ = nullptr;  // of the victim
    ucp_rkey_h rkey_ = nullptr;
    std::list<operation> receives_;
    std::list<operation> running_;
    std::list<operation> honest_operations_;
    std::vector<void*> posted_;
    std::vector<unsigned> counts_;
    std::size_t sent_ = 0;
    std::size_t honest_running_ = 0;
    unsigned sum_ = 0;
    std::uint64_t rejected_ = 0;
    std::string ending_;
    bool faulty_lost_ = false;
    bool ends_ = false;
};

std::uint64_t scaled(std::uint64_t seeds) {
    const char* const text = std::getenv("HAWSER_SEEDS");
    const std::uint64_t tenths = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    return tenths == 0 ? seeds : std::max<std::uint64_t>(1, seeds * tenths / 10);
}

}  // namespace
}  // namespace adversary

int main(int argc, char** argv) {
    std::uint64_t seeds = 10;
    std::uint64_t first = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::uint64_t number = std::strtoull(argv[i + 1], nullptr, 10);
        if (std::strcmp(argv[i], "--peer") == 0) return adversary::run_peer(number);
        if (std::strcmp(argv[i], "--seeds") == 0) seeds = number;
        if (std::strcmp(argv[i], "--first") == 0) first = number;
    }
    ::signal(SIGPIPE, SIG_IGN);
    seeds = adversary::scaled(seeds);
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        std::printf("seed %llu: ", static_cast<unsigned long long>(seed));
        std::fflush(stdout);
        adversary::attack one(seed);
        one.run();
        std::printf("%s\n", one.summary().c_str());
    }
    std::printf("%llu seeds passed\n", static_cast<unsigned long long>(seeds));
    return 0;
}
