// Dispatch and combine through the C interface, with their expected results.
#pragma once

#include "test/unit/ucg/core/moe_job.hpp"

namespace test::moe {

// The tables that each rank gives and gets; the experts' work is done on `out`.
struct moved {
    std::vector<table<float>> out, out_weights;
    std::vector<table<std::int64_t>> out_topk;
    std::vector<table<float>> sums, weight_sums, bias;

    explicit moved(const job& test_job)
        : sums(test_job.token_rows()),
          weight_sums(test_job.token_rows(job::k)),
          bias(test_job.token_rows(job::hidden, 0.5F)) {}
    // `rows` of each rank.
    void make_room(job& test_job, const std::function<std::uint64_t(std::uint32_t)>& rows,
                   std::uint32_t columns) {
        for (std::uint32_t rank = 0; rank < test_job.ranks(); ++rank) {
            const std::uint64_t count = test_job.gates.lives(rank) ? rows(rank) : 0;
            out.emplace_back(count, job::hidden, -7.0F);
            out_weights.emplace_back(count, columns, -7.0F);
            out_topk.emplace_back(count, job::k, -7);
        }
    }
    // Values that every start must overwrite.
    void poison() {
        for (auto* const all : {&out, &out_weights, &sums, &weight_sums})
            for (table<float>& each : *all)
                std::ranges::fill(each.all, -9.0F);
        for (table<std::int64_t>& each : out_topk)
            std::ranges::fill(each.all, -9);
    }
    ucg_moe_dispatch_args_t dispatch(job& test_job, std::uint32_t rank) {
        ucg_moe_dispatch_args_t args = test_job.dispatch(rank, out[rank].tensor());
        args.weights = test_job.weights[rank].tensor();
        args.out_weights = out_weights[rank].tensor();
        return args;
    }
    ucg_moe_combine_args_t combine(std::uint32_t rank, ucg_moe_expansion_h expansion = nullptr) {
        ucg_moe_combine_args_t args = combine_of(out[rank].tensor(), sums[rank].tensor());
        args.weights = out_weights[rank].tensor();
        args.bias[1] = bias[rank].tensor();
        args.out_weights = weight_sums[rank].tensor();
        args.expansion = expansion;
        return args;
    }
    // For rows of one token each: the received data, and the results of the experts.
    void check_rows_and_work(job& test_job, std::uint32_t rank) {
        const auto wanted = test_job.gates.rows_of(rank);
        REQUIRE(out[rank].rows >= wanted.size());
        for (std::uint64_t row = 0; row < wanted.size(); ++row) {
            const auto [source, token] = wanted[row];
            float factor = 0;
            for (std::uint32_t j = 0; j < job::k; ++j) {
                const std::int64_t e = test_job.gates.choice_at(rank, wanted[row], j);
                REQUIRE(out_topk[rank].at(row, j) == e);
                REQUIRE(out_weights[rank].at(row, j) ==
                        (e >= 0 ? test_job.weights[source].at(token, j) : 0));
                if (e >= 0) factor += static_cast<float>(rank * job::local + e + 1);
            }
            for (std::uint32_t h = 0; h < job::hidden; ++h) {
                REQUIRE(out[rank].at(row, h) == test_job.x[source].at(token, h));
                out[rank].at(row, h) *= factor;
            }
        }
        for (std::uint64_t row = wanted.size(); row < out[rank].rows; ++row)
            REQUIRE(out_topk[rank].at(row, 0) == -1);
    }
    void check_sums(job& test_job, std::uint32_t rank) {
        for (std::uint64_t t = 0; t < test_job.x[rank].rows; ++t) {
            for (std::uint32_t h = 0; h < job::hidden; ++h)
                REQUIRE(sums[rank].at(t, h) == test_job.result(rank, t, h) + 0.5F);
            for (std::uint32_t j = 0; j < job::k; ++j)
                REQUIRE(weight_sums[rank].at(t, j) == (test_job.gates.living_choice(rank, t, j) >= 0
                                                           ? test_job.weights[rank].at(t, j)
                                                           : 0));
        }
    }
};

// Runs notify, and dispatch and combine twice with other tokens; keeps only the requests.
inline void run_flat(job& test_job) {
    test_job.notify();
    moved data(test_job);
    data.make_room(
        test_job, [&](std::uint32_t rank) { return test_job.attr(rank).rows + rank % 2; }, job::k);
    batch there = test_job.requests([&](std::uint32_t rank) {
        ucg_moe_dispatch_args_t args = data.dispatch(test_job, rank);
        args.out_topk = data.out_topk[rank].tensor();
        return args;
    });
    batch back = test_job.requests([&](std::uint32_t rank) { return data.combine(rank); });
    test_job.release_handles();
    test_job.destroy_teams();
    for (unsigned start = 0; start < 2; ++start) {
        for (auto& each : test_job.x)
            for (float& number : each.all)
                number += static_cast<float>(start);
        data.poison();
        REQUIRE(there.run());
        for (const std::uint32_t rank : test_job.gates.living())
            data.check_rows_and_work(test_job, rank);
        REQUIRE(back.run());
        for (const std::uint32_t rank : test_job.gates.living())
            data.check_sums(test_job, rank);
    }
}

}  // namespace test::moe
