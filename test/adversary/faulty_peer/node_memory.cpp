// A rank writes random bytes into the memory that the ranks of its node share, while all of them do
// collectives and exchanges of MoE. Operations may end with any status, and with wrong data. No
// rank may crash, hang, or write outside of its buffers.
//
//   node_memory [--seed N] [--groups N] [--messages]
//
// Each group has the next seed. With --messages collectives go over the rings and not over the
// engine of the node.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "test/support/moe_tensor.h"
#include "ucg/node/memory/layout.hpp"

// A forged count requests more memory than there is, which AddressSanitizer must not report as an
// error. The user's ASAN_OPTIONS take precedence.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "allocator_may_return_null=1";
}

namespace {

using random_numbers = std::mt19937_64;

constexpr std::uint32_t ranks = 3;
constexpr unsigned limit = 100;          // seconds for one rank of one group
constexpr unsigned operations = 1000;    // per group, unless one fails before
constexpr std::uint64_t longest = 9000;  // elements per vector
constexpr std::byte guard_byte{0x5a};

[[noreturn]] void fail(const std::string& why) {
    fmt::print(stderr, "FAIL: {}\n", why);
    std::exit(1);
}

std::uint64_t below(random_numbers& random, std::uint64_t end) {
    return random() % end;
}

// A buffer between guard bytes that must not change.
class guarded_buffer {
public:
    explicit guarded_buffer(std::size_t size) : memory_(size + 2 * margin, guard_byte) {}
    [[nodiscard]] std::byte* data() noexcept { return memory_.data() + margin; }
    [[nodiscard]] bool is_intact() const {
        const auto good = [](std::byte each) { return each == guard_byte; };
        return std::all_of(memory_.begin(), memory_.begin() + margin, good) &&
               std::all_of(memory_.end() - margin, memory_.end(), good);
    }

private:
    static constexpr std::ptrdiff_t margin = 256;
    std::vector<std::byte> memory_;
};

// --- the faulty rank ---

// Address of the node's memory in this process.
std::byte* find_memory(std::size_t size) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("memfd:hawser-node-") == line.npos) continue;
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2 || end - begin < size) continue;
        return reinterpret_cast<std::byte*>(begin);
    }
    fail("the memory of the node is not mapped");
}

// Writes random values into the memory until it is stopped.
class scribbler {
public:
    scribbler(std::byte* memory, const ucg::node::geometry& layout, std::uint64_t seed)
        : memory_(memory),
          layout_(layout),
          kinds_(seed % 2 == 0 ? places::all : places::contents),
          random_(seed),
          thread_([this] { run(); }) {}
    ~scribbler() {
        stop_ = true;
        thread_.join();
    }

private:
    void run() {
        // Some groups are attacked at once, others after some operations.
        std::this_thread::sleep_for(std::chrono::microseconds(below(random_, 4000)));
        while (!stop_) {
            const std::uint64_t burst = 1 + below(random_, 8);
            for (std::uint64_t i = 0; i < burst; ++i)
                scribble(place());
            std::this_thread::sleep_for(std::chrono::microseconds(below(random_, 100)));
        }
    }

    // Damaged counters end most groups soon. So some seeds leave them alone and attack lengths and
    // contents of messages.
    std::size_t place() {
        const auto rank = static_cast<std::uint32_t>(below(random_, ranks));
        const auto other = static_cast<std::uint32_t>(below(random_, ranks));
        const std::size_t ring = layout_.ring_at(rank, other);
        std::size_t offset = 0;
        switch (kinds_ == places::contents ? 3 + below(random_, 3) : below(random_, 6)) {
            case 0:
                offset = layout_.control_at(rank) + below(random_, sizeof(ucg::node::control));
                break;
            case 1:
                offset = layout_.mailbox_at(rank, random_()) + below(random_, 16);
                break;
            case 2:
                offset = ring + below(random_, sizeof(ucg::node::ring_control));
                break;
            case 3:
                offset = layout_.mailbox_at(rank, random_()) + 16 + below(random_, 256);
                break;
            case 4:
                offset = layout_.slot_at(rank, random_()) + below(random_, layout_.slot_bytes);
                break;
            default:
                // Short messages lie at the front of a ring until it has wrapped around.
                offset = ring + sizeof(ucg::node::ring_control) +
                         below(random_, below(random_, 2) == 0 ? 2048 : layout_.ring_bytes);
                break;
        }
        return std::min(offset / 8 * 8, layout_.bytes() - 8);
    }

    void scribble(std::size_t offset) {
        std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(memory_ + offset));
        const std::uint64_t before = word.load(std::memory_order_relaxed);
        std::uint64_t after = random_();
        switch (below(random_, 6)) {
            case 0:
                after = before ^ (std::uint64_t{1} << below(random_, 64));
                break;
            case 1:
                after = before + below(random_, 65) - 32;
                break;
            case 2:
                after = below(random_, 4096);
                break;
            case 3:
                after = ~below(random_, 64);
                break;
            case 4:
                after = (before & 0xffffffff) | after << 32;
                break;
            default:
                break;
        }
        word.store(after, std::memory_order_relaxed);
    }

    enum class places { all, contents };

    std::byte* const memory_;
    const ucg::node::geometry layout_;
    const places kinds_;
    random_numbers random_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// --- operations of all ranks ---

// Also called if the init call refused the arguments, because the other ranks start the operation.
ucs_status_t run(ucg_request_h request, ucs_status_t refused) {
    if (request == nullptr) return refused;
    const ucs_status_t status = ucg_request_start(request);
    return status == UCS_OK ? ucg_request_wait(request) : status;
}

ucs_status_t collective(ucg_group_h group, random_numbers& random, bool messages) {
    struct kind {
        ucg_coll_t collective;
        const char* over_messages;
    };
    static constexpr std::array<kind, 9> kinds{{{UCG_COLL_BARRIER, "dissemination"},
                                                {UCG_COLL_BCAST, "binomial"},
                                                {UCG_COLL_REDUCE, "binomial"},
                                                {UCG_COLL_ALLREDUCE, "ring"},
                                                {UCG_COLL_ALLGATHER, "ring"},
                                                {UCG_COLL_GATHER, "linear"},
                                                {UCG_COLL_SCATTER, "linear"},
                                                {UCG_COLL_ALLTOALL, "pairwise"},
                                                {UCG_COLL_REDUCE_SCATTER_BLOCK, "ring"}}};
    const kind& chosen = kinds[below(random, kinds.size())];
    const bool is_short = below(random, 2) == 0;
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = chosen.collective;
    args.count = 1 + below(random, is_short ? 40 : longest / ranks);
    args.type = UCG_TYPE_INT64;
    args.root = static_cast<std::uint32_t>(below(random, ranks));
    args.algorithm = messages ? chosen.over_messages : nullptr;
    guarded_buffer from(args.count * ranks * sizeof(std::int64_t));
    guarded_buffer into(args.count * ranks * sizeof(std::int64_t));
    args.src = from.data();
    args.dst = into.data();
    ucg_request_h request = nullptr;
    const ucs_status_t refused = ucg_request_init(group, &args, &request);
    const ucs_status_t status = run(request, refused);
    if (ucg_request_free(request) != UCS_OK) fail("a request that ended cannot be freed");
    if (!from.is_intact() || !into.is_intact())
        fail(fmt::format("{} of {} elements wrote behind its buffer", ucg_coll_name(args.coll),
                         args.count));
    return status;
}

// Tokens of this rank, and the experts chosen for them.
struct token_batch {
    static constexpr std::uint64_t hidden = 16, k = 2, most = 40;
    static constexpr std::uint64_t experts = 2 * ranks;

    explicit token_batch(random_numbers& random)
        : tokens(below(random, most)),
          topk(tokens * k),
          weights(tokens * k, 0.5F),
          x(tokens * hidden) {
        for (std::uint64_t i = 0; i < topk.size(); i += k) {
            topk[i] = static_cast<std::int64_t>(below(random, experts));
            topk[i + 1] = (topk[i] + 1) % static_cast<std::int64_t>(experts);
        }
    }
    [[nodiscard]] ucg_moe_tensor_t choices() {
        return tensor_of(topk.data(), UCG_TYPE_INT64, tokens, k);
    }
    [[nodiscard]] ucg_moe_tensor_t rows() {
        return tensor_of(x.data(), UCG_TYPE_FP32, tokens, hidden);
    }

    std::uint64_t tokens;
    std::vector<std::int64_t> topk;
    std::vector<float> weights, x;
};

ucs_status_t there_and_back(ucg_moe_handle_h handle, token_batch& batch, std::uint64_t rows) {
    guarded_buffer came(rows * token_batch::hidden * sizeof(float));
    guarded_buffer sums(batch.x.size() * sizeof(float));
    ucg_moe_dispatch_args_t dispatch_args = UCG_MOE_DISPATCH_ARGS_INIT;
    dispatch_args.x = batch.rows();
    dispatch_args.out_x = tensor_of(came.data(), UCG_TYPE_FP32, rows, token_batch::hidden);
    ucg_request_h request = nullptr;
    ucs_status_t status = ucg_moe_dispatch_init(handle, &dispatch_args, &request);
    status = run(request, status);
    (void)ucg_request_free(request);
    if (status == UCS_OK) {
        ucg_moe_combine_args_t back = UCG_MOE_COMBINE_ARGS_INIT;
        back.x = dispatch_args.out_x;
        back.out_x = tensor_of(sums.data(), UCG_TYPE_FP32, batch.tokens, token_batch::hidden);
        request = nullptr;
        status = ucg_moe_combine_init(handle, &back, &request);
        status = run(request, status);
        (void)ucg_request_free(request);
    }
    if (!came.is_intact() || !sums.is_intact()) fail("an exchange wrote behind its buffer");
    return status;
}

ucs_status_t exchange(ucg_moe_team_h team, random_numbers& own) {
    token_batch batch(own);
    ucg_moe_notify_args_t routing = UCG_MOE_NOTIFY_ARGS_INIT;
    routing.topk = batch.choices();
    ucg_request_h request = nullptr;
    ucg_moe_handle_h handle = nullptr;
    ucs_status_t status = ucg_moe_notify_init(team, &routing, &request);
    status = run(request, status);
    if (status == UCS_OK) status = ucg_moe_notify_handle(request, &handle);
    (void)ucg_request_free(request);
    if (status != UCS_OK) return status;
    ucg_moe_handle_attr_t came = UCG_MOE_HANDLE_ATTR_INIT;
    status = ucg_moe_handle_query(handle, &came);
    // Reject more rows than the other ranks can have sent.
    const bool is_too_much = came.rows > 1U << 20U;
    if (status == UCS_OK)
        status = is_too_much ? UCS_ERR_EXCEEDS_LIMIT : there_and_back(handle, batch, came.rows);
    ucg_moe_handle_release(handle);
    return status;
}

ucs_status_t exchange_at_once(ucg_moe_team_h team, random_numbers& own) {
    constexpr std::uint64_t local_experts = token_batch::experts / ranks;
    constexpr std::uint64_t capacity = token_batch::most * ranks;
    token_batch batch(own);
    guarded_buffer came(local_experts * capacity * token_batch::hidden * sizeof(float));
    guarded_buffer places(local_experts * capacity * sizeof(std::int64_t));
    ucg_moe_low_latency_args_t args = UCG_MOE_LOW_LATENCY_ARGS_INIT;
    args.max_tokens = token_batch::most;
    args.topk = batch.choices();
    args.x = batch.rows();
    args.out_x = UCG_MOE_TENSOR_INIT;
    args.out_x.data = came.data();
    args.out_x.type = UCG_TYPE_FP32;
    args.out_x.ndims = 3;
    args.out_x.dims[0] = local_experts;
    args.out_x.dims[1] = capacity;
    args.out_x.dims[2] = token_batch::hidden;
    args.out_tokens = tensor_of(places.data(), UCG_TYPE_INT64, local_experts, capacity);
    ucg_request_h request = nullptr;
    ucg_moe_slots_h slots = nullptr;
    ucs_status_t status = ucg_moe_low_latency_dispatch_init(team, &args, &request);
    status = run(request, status);
    if (status == UCS_OK) status = ucg_moe_low_latency_handle(request, &slots);
    (void)ucg_request_free(request);
    if (status == UCS_OK) {
        guarded_buffer sums(batch.x.size() * sizeof(float));
        ucg_moe_low_latency_combine_args_t back = UCG_MOE_LOW_LATENCY_COMBINE_ARGS_INIT;
        back.x = args.out_x;
        back.weights = tensor_of(batch.weights.data(), UCG_TYPE_FP32, batch.tokens, token_batch::k);
        back.out_x = tensor_of(sums.data(), UCG_TYPE_FP32, batch.tokens, token_batch::hidden);
        request = nullptr;
        status = ucg_moe_low_latency_combine_init(slots, &back, &request);
        status = run(request, status);
        (void)ucg_request_free(request);
        if (!sums.is_intact()) fail("a combine wrote behind its buffer");
    }
    ucg_moe_slots_release(slots);
    if (!came.is_intact() || !places.is_intact()) fail("a dispatch wrote behind its buffer");
    return status;
}

void use(ucg_group_h group, std::uint64_t seed, bool messages) {
    const std::uint32_t rank = ucg_group_rank(group);
    ucg_moe_team_params_t params = UCG_MOE_TEAM_PARAMS_INIT;
    params.experts = token_batch::experts;
    ucg_moe_team_h team = nullptr;
    if (ucg_moe_team_create(group, &params, &team) != UCS_OK) fail("no team");
    random_numbers common(seed);
    random_numbers own(seed * ranks + rank);
    ucs_status_t status = UCS_OK;
    unsigned done = 0;
    for (; done < operations && status == UCS_OK; ++done) {
        switch (below(common, 6)) {
            case 0:
                status = exchange(team, own);
                break;
            case 1:
                status = exchange_at_once(team, own);
                break;
            default:
                status = collective(group, common, messages);
                break;
        }
    }
    ucg_moe_team_destroy(team);
    fmt::print("rank {}: {} operations, {}\n", rank, done, ucs_status_string(status));
}

int be_rank(ucg_oob_t* oob, std::uint64_t seed, bool messages) {
    ucg_context_h context = nullptr;
    ucg_group_h group = nullptr;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = oob;
    if (ucg_context_create(nullptr, &context) != UCS_OK) fail("no context");
    if (ucg_group_create(context, &params, &group) != UCS_OK) fail("no group");
    if (ucg_group_wait(group) != UCS_OK) fail("no group");
    if (oob->rank == seed % ranks) {
        ucg::node::geometry layout{.ranks = ranks, .slots = 8, .slot_bytes = 4096};
        const scribbler faulty(find_memory(layout.bytes()), layout, seed);
        use(group, seed, messages);
    } else {
        use(group, seed, messages);
    }
    ucg_group_destroy(group);
    ucg_context_destroy(context);
    ucg_oob_destroy(oob);
    return 0;
}

bool try_group(std::uint64_t seed, bool messages) {
    fmt::print("seed {}{}\n", seed, messages ? ", messages" : "");
    (void)std::fflush(stdout);
    std::array<ucg_oob_t*, ranks> all{};
    if (ucg_oob_create_local(ranks, all.data()) != UCS_OK) fail("no exchange");
    for (ucg_oob_t* const each : all) {
        const pid_t child = ::fork();
        if (child < 0) fail(fmt::format("fork: {}", std::strerror(errno)));
        if (child != 0) continue;
        ::alarm(limit);
        std::exit(be_rank(each, seed, messages));
    }
    bool good = true;
    for (std::uint32_t i = 0; i < ranks; ++i) {
        int status = 0;
        if (::wait(&status) >= 0 && status == 0) continue;
        fmt::print("FAIL: seed {}: a rank ended with {:#x}\n", seed, status);
        good = false;
    }
    for (ucg_oob_t* const each : all)
        ucg_oob_destroy(each);
    return good;
}

}  // namespace

int main(int count, char** words) {
    std::uint64_t seed = 1;
    std::uint64_t groups = 100;
    bool messages = false;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--messages")
            messages = true;
        else if (word == "--seed" && i + 1 < count)
            seed = std::strtoull(words[++i], nullptr, 10);
        else if (word == "--groups" && i + 1 < count)
            groups = std::strtoull(words[++i], nullptr, 10);
        else
            fail("unknown option " + word);
    }
    (void)::setenv("UCG_NODE_SLOTS", "8", 1);
    (void)::setenv("UCG_NODE_SLOT_SIZE", "4k", 1);
    (void)::setenv("UCG_TIMEOUT", "1s", 1);
    bool good = true;
    for (std::uint64_t i = 0; i < groups; ++i)
        good = try_group(seed + i, messages) && good;
    fmt::print("{}\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
