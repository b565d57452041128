// Common parts of the tests of MoE through the C interface: memory and requests of all ranks.
#pragma once

#include <type_traits>

#include "test/support/moe_reference.hpp"
#include "test/support/moe_tensor.h"
#include "test/unit/ucg/core/world.hpp"

namespace test::moe {

template<class T>
constexpr ucg_type_t type_of = std::is_same_v<T, float>          ? UCG_TYPE_FP32
                               : std::is_same_v<T, std::int32_t> ? UCG_TYPE_INT32
                               : std::is_same_v<T, std::int64_t> ? UCG_TYPE_INT64
                                                                 : UCG_TYPE_UINT8;

// As many matrices of this shape as there are experts.
inline ucg_moe_tensor_t stack_of(ucg_moe_tensor_t matrix, std::uint64_t experts) {
    matrix.ndims = 3;
    matrix.dims[2] = std::exchange(matrix.dims[1], std::exchange(matrix.dims[0], experts));
    return matrix;
}

inline ucg_moe_combine_args_t combine_of(const ucg_moe_tensor_t& results,
                                         const ucg_moe_tensor_t& sums) {
    ucg_moe_combine_args_t args = UCG_MOE_COMBINE_ARGS_INIT;
    args.x = results;
    args.out_x = sums;
    return args;
}

// Rows in memory of its own, and the tensor that describes them.
template<class T>
struct table {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::vector<T> all;

    table() = default;
    table(std::uint64_t r, std::uint64_t c, T value = {})
        : rows(r), columns(c), all(r * c, value) {}
    T& at(std::uint64_t row, std::uint64_t column) { return all[row * columns + column]; }

    ucg_moe_tensor_t tensor(ucg_type_t type = type_of<T>) {
        return tensor_of(all.data(), type, rows, columns);
    }
    // The rows divided among a number of experts.
    ucg_moe_tensor_t stack(std::uint64_t experts, ucg_type_t type = type_of<T>) {
        return stack_of(tensor_of(all.data(), type, rows / experts, columns), experts);
    }
};

// One request on every rank that takes part.
class batch {
public:
    using init = std::function<ucs_status_t(std::uint32_t rank, ucg_request_h* request_p)>;

    // Every rank gets a request, whatever its init returns.
    batch(world& in, const init& make, const std::vector<std::uint8_t>& masked = {})
        : in_(in), all_(in.size()), init_statuses_(in.size(), UCS_OK) {
        for (std::uint32_t rank = 0; rank < in.size(); ++rank) {
            if (!masked.empty() && masked[rank] != 0) continue;
            init_statuses_[rank] = make(rank, &all_[rank]);
            REQUIRE(all_[rank] != nullptr);
        }
    }
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;
    ~batch() {
        for (const ucg_request_h each : all_)
            CHECK(ucg_request_free(each) == UCS_OK);
    }

    [[nodiscard]] ucg_request_h request(std::uint32_t rank) const { return all_[rank]; }
    // The status that its init returned.
    [[nodiscard]] ucs_status_t init_status(std::uint32_t rank) const {
        return init_statuses_[rank];
    }

    // Rank 1, which has no tokens, may have all data that it needs before another rank fails.
    void let_idle_rank_end() { idle_may_end_ = true; }
    void start() {
        for (const ucg_request_h each : all_)
            if (each != nullptr) REQUIRE(ucg_request_start(each) == UCS_OK);
    }
    void finish() {
        REQUIRE(in_.run_until([this] {
            for (const ucg_request_h each : all_)
                if (each != nullptr && ucg_request_test(each) == UCS_INPROGRESS) return false;
            return true;
        }));
    }
    // Returns whether all ranks that take part end with this status.
    [[nodiscard]] bool run(ucs_status_t wanted = UCS_OK) {
        start();
        finish();
        bool as_wanted = true;
        for (std::uint32_t rank = 0; rank < in_.size(); ++rank) {
            if (all_[rank] == nullptr) continue;
            const ucs_status_t end = ucg_request_test(all_[rank]);
            if (end == wanted || (idle_may_end_ && rank == 1 && end == UCS_OK)) continue;
            UNSCOPED_INFO("rank " << rank << " ended with " << ucs_status_string(end));
            as_wanted = false;
        }
        return as_wanted;
    }

private:
    world& in_;
    std::vector<ucg_request_h> all_;
    std::vector<ucs_status_t> init_statuses_;
    bool idle_may_end_ = false;
};

// The arguments of notify and dispatch as one.
struct notify_dispatch_args {
    ucg_moe_notify_args_t notify;
    ucg_moe_dispatch_args_t dispatch;
    std::uint32_t alignment = 0;
};

// Ranks with tokens of small whole numbers, so that sums are the same in any order. Expert e makes
// (e + 1) * x of a token x.
class job {
public:
    static constexpr std::uint32_t hidden = 128;
    static constexpr std::uint32_t k = 3;
    static constexpr std::uint32_t local = 2;  // experts of a rank
    static constexpr std::uint32_t most = 10;  // tokens of a rank, for low latency

    explicit job(const std::vector<std::string>& nodes,
                 const std::vector<std::uint8_t>& who_is_masked = {})
        : in(nodes), gates{local * in.size(), k, {}, who_is_masked} {
        for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
            const std::uint64_t tokens = rank == 1 ? 0 : 3 + rank * 5 % 7;
            x.emplace_back(tokens, hidden);
            weights.emplace_back(tokens, k);
            std::vector<std::int64_t>& chosen = gates.topk.emplace_back(tokens * k, -1);
            for (std::uint64_t t = 0; t < tokens; ++t) {
                for (std::uint32_t h = 0; h < hidden; ++h)
                    x[rank].at(t, h) = static_cast<float>(rank * 100 + t * 10 + h % 7);
                for (std::uint32_t j = 0; j < k; ++j) {
                    weights[rank].at(t, j) = static_cast<float>(1 + (rank + t + j) % 4);
                    // Different experts, and sometimes none.
                    const auto e =
                        static_cast<std::int64_t>((rank + t * 3 + j * (t % 2 + 1)) % experts());
                    std::int64_t* const mine = &chosen[t * k];
                    const bool taken = std::find(mine, mine + j, e) != mine + j;
                    if ((t + j + rank) % 5 != 0 && !taken) mine[j] = e;
                }
            }
        }
        make_teams();
    }
    job(const job&) = delete;
    job& operator=(const job&) = delete;
    ~job() {
        release_slots();
        release_handles();
        destroy_teams();
    }
    // Makes a team for each living rank of the gates.
    void make_teams() {
        teams.assign(ranks(), nullptr);
        for (const std::uint32_t rank : gates.living()) {
            ucg_moe_team_params_t params = UCG_MOE_TEAM_PARAMS_INIT;
            params.experts = experts();
            params.masked = gates.masked.empty() ? nullptr : gates.masked.data();
            REQUIRE(ucg_moe_team_create(in.groups[rank], &params, &teams[rank]) == UCS_OK);
        }
    }
    void release_handles() {
        for (ucg_moe_handle_h& each : handles)
            ucg_moe_handle_release(std::exchange(each, nullptr));
    }
    void release_slots() {
        for (ucg_moe_slots_h& each : slots)
            ucg_moe_slots_release(std::exchange(each, nullptr));
    }
    void destroy_teams() {
        for (ucg_moe_team_h& each : teams)
            ucg_moe_team_destroy(std::exchange(each, nullptr));
    }

    [[nodiscard]] std::uint32_t ranks() const { return in.size(); }
    [[nodiscard]] std::uint32_t experts() const { return gates.experts; }
    // Rows of each expert of a rank, for low latency.
    [[nodiscard]] std::uint64_t capacity() const { return std::uint64_t{most} * ranks(); }
    template<class T>
    [[nodiscard]] std::vector<table<T>> slotted_rows() const {
        return std::vector<table<T>>(ranks(), {local * capacity(), hidden});
    }
    // Rows for the tokens of each rank, and for those that each rank receives.
    template<class T = float>
    [[nodiscard]] std::vector<table<T>> token_rows(std::uint32_t columns = hidden,
                                                   T value = {}) const {
        std::vector<table<T>> made;
        for (const table<float>& each : x)
            made.emplace_back(each.rows, columns, value);
        return made;
    }
    [[nodiscard]] std::vector<table<float>> received_rows(std::uint32_t columns = hidden) const {
        std::vector<table<float>> made;
        for (std::uint32_t rank = 0; rank < ranks(); ++rank)
            made.emplace_back(attr(rank).rows, columns);
        return made;
    }
    [[nodiscard]] ucg_moe_tensor_t topk(std::uint32_t rank) {
        return tensor_of(gates.topk[rank].data(), UCG_TYPE_INT64, gates.tokens(rank), k);
    }
    [[nodiscard]] bool goes(std::uint32_t rank, std::uint64_t t, std::uint32_t to) const {
        return gates.goes({rank, static_cast<std::uint32_t>(t)}, to);
    }
    // Returns the expected result of a token.
    [[nodiscard]] float result(std::uint32_t rank, std::uint64_t t, std::uint32_t h,
                               bool weighted = false) {
        float sum = 0;
        for (std::uint32_t j = 0; j < k; ++j)
            if (const std::int64_t e = gates.living_choice(rank, t, j); e >= 0)
                sum += static_cast<float>(e + 1) * x[rank].at(t, h) *
                       (weighted ? weights[rank].at(t, j) : 1);
        return sum;
    }

    [[nodiscard]] ucg_moe_notify_args_t routing(std::uint32_t rank) {
        ucg_moe_notify_args_t args = UCG_MOE_NOTIFY_ARGS_INIT;
        args.topk = topk(rank);
        args.channels = 3;
        args.channel_tokens = 1;
        args.route = route;
        args.flags = flags;
        return args;
    }
    // The tokens of a rank without weights.
    [[nodiscard]] ucg_moe_dispatch_args_t dispatch(std::uint32_t rank,
                                                   const ucg_moe_tensor_t& out) {
        ucg_moe_dispatch_args_t args = UCG_MOE_DISPATCH_ARGS_INIT;
        args.x = x[rank].tensor();
        args.out_x = out;
        return args;
    }
    // For low latency: the tokens of a rank in slots, and the sums of the results of its choices.
    [[nodiscard]] ucg_moe_low_latency_args_t there(std::uint32_t rank,
                                                   const ucg_moe_tensor_t& out) {
        ucg_moe_low_latency_args_t args = UCG_MOE_LOW_LATENCY_ARGS_INIT;
        args.max_tokens = most;
        args.topk = topk(rank);
        args.x = x[rank].tensor();
        args.out_x = out;
        return args;
    }
    [[nodiscard]] ucg_moe_low_latency_combine_args_t back(std::uint32_t rank,
                                                          const ucg_moe_tensor_t& results,
                                                          const ucg_moe_tensor_t& sums) {
        ucg_moe_low_latency_combine_args_t args = UCG_MOE_LOW_LATENCY_COMBINE_ARGS_INIT;
        args.x = results;
        args.weights = weights[rank].tensor();
        args.out_x = sums;
        return args;
    }

    // Makes the request of a rank.
    ucs_status_t init(std::uint32_t rank, const ucg_moe_notify_args_t& args,
                      ucg_request_h* request_p) const {
        return ucg_moe_notify_init(teams[rank], &args, request_p);
    }
    ucs_status_t init(std::uint32_t rank, const notify_dispatch_args& args,
                      ucg_request_h* request_p) const {
        return ucg_moe_notify_dispatch_init(teams[rank], &args.notify, &args.dispatch,
                                            args.alignment, request_p);
    }
    ucs_status_t init(std::uint32_t rank, const ucg_moe_dispatch_args_t& args,
                      ucg_request_h* request_p) const {
        return ucg_moe_dispatch_init(handles[rank], &args, request_p);
    }
    ucs_status_t init(std::uint32_t rank, const ucg_moe_combine_args_t& args,
                      ucg_request_h* request_p) const {
        return ucg_moe_combine_init(handles[rank], &args, request_p);
    }
    ucs_status_t init(std::uint32_t rank, const ucg_moe_low_latency_args_t& args,
                      ucg_request_h* request_p) const {
        return ucg_moe_low_latency_dispatch_init(teams[rank], &args, request_p);
    }
    ucs_status_t init(std::uint32_t rank, const ucg_moe_low_latency_combine_args_t& args,
                      ucg_request_h* request_p) const {
        return ucg_moe_low_latency_combine_init(slots[rank], &args, request_p);
    }
    // Makes the requests of the living ranks; args_of(rank) returns the arguments of one.
    template<class ArgsOf>
    [[nodiscard]] batch requests(const ArgsOf& args_of) {
        return {in,
                [&](std::uint32_t rank, ucg_request_h* request_p) {
                    return init(rank, args_of(rank), request_p);
                },
                gates.masked};
    }
    void notify() {
        batch all = requests([&](std::uint32_t rank) { return routing(rank); });
        REQUIRE(all.run());
        take_handles(all);
    }
    // Fills the slots of each rank by a low-latency dispatch into `out`.
    void fill_slots(std::vector<table<float>>& out) {
        batch all =
            requests([&](std::uint32_t rank) { return there(rank, out[rank].stack(local)); });
        REQUIRE(all.run());
        take_slots(all);
    }
    void take_slots(const batch& requests) {
        slots.resize(ranks());
        for (const std::uint32_t rank : gates.living())
            REQUIRE(ucg_moe_low_latency_handle(requests.request(rank), &slots[rank]) == UCS_OK);
    }
    void take_handles(const batch& requests) {
        handles.resize(ranks());
        for (const std::uint32_t rank : gates.living())
            REQUIRE(ucg_moe_notify_handle(requests.request(rank), &handles[rank]) == UCS_OK);
    }
    [[nodiscard]] ucg_moe_handle_attr_t attr(std::uint32_t rank) const {
        ucg_moe_handle_attr_t made = UCG_MOE_HANDLE_ATTR_INIT;
        REQUIRE(ucg_moe_handle_query(handles[rank], &made) == UCS_OK);
        return made;
    }

    world in;
    gating gates;
    std::vector<table<float>> x, weights;
    std::vector<ucg_moe_team_h> teams;
    std::vector<ucg_moe_handle_h> handles;
    std::vector<ucg_moe_slots_h> slots;
    ucg_moe_route_t route = UCG_MOE_ROUTE_CHOOSE;
    std::uint32_t flags = 0;  // of notify
};

}  // namespace test::moe
