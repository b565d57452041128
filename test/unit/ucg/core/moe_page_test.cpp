// Tests that the program of docs/moe.md, which the build extracts from the page, does what the page
// says.
#include <fmt/format.h>
#include <ucg/api/ucg_moe.h>

#include <catch2/catch.hpp>

#include "test/unit/ucg/oob/ranks.hpp"

extern "C" {
using experts_t = void (*)(std::uint16_t* rows, const float* weights, ucg_moe_handle_h handle);
ucs_status_t layer(ucg_moe_team_h team, std::int64_t* topk, float* weights, std::uint32_t k,
                   std::uint16_t* x, std::uint64_t tokens, std::uint64_t hidden,
                   experts_t apply_experts);
}

namespace {

constexpr std::uint32_t ranks = 3, local = 2, k = 2, tokens = 4, hidden = 5;

// bf16 of small whole numbers, which is exact.
std::uint16_t narrow(float value) {
    return static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, value) >> 16U);
}
float widen(std::uint16_t value) {
    return __builtin_bit_cast(float, std::uint32_t{value} << 16U);
}

std::int64_t choice(std::uint32_t rank, std::uint32_t token, std::uint32_t j) {
    if (token == 2 && j == 1) return -1;
    return (rank + 2 * token + j * 3) % (ranks * local);
}
float weight(std::uint32_t token, std::uint32_t j) {
    return static_cast<float>(1 + (token + j) % 2);
}
float number(std::uint32_t rank, std::uint32_t token, std::uint32_t h) {
    return static_cast<float>(1 + (rank + token + h) % 3);
}

thread_local std::uint32_t my_rank;

// Expert e multiplies its tokens by e + 1.
void apply(std::uint16_t* rows, const float* weights, ucg_moe_handle_h handle) {
    ucg_moe_handle_attr_t came = UCG_MOE_HANDLE_ATTR_INIT;
    if (ucg_moe_handle_query(handle, &came) != UCS_OK) return;
    for (std::uint32_t row = 0; row < came.rows; ++row) {
        float factor = 0;
        for (std::uint32_t j = 0; j < k; ++j) {
            const std::int32_t expert = came.chosen[row * k + j];
            const auto e = static_cast<float>(my_rank * local) + static_cast<float>(expert);
            if (expert >= 0) factor += weights[row * k + j] * (e + 1);
        }
        for (std::uint32_t h = 0; h < hidden; ++h)
            rows[row * hidden + h] = narrow(widen(rows[row * hidden + h]) * factor);
    }
}

std::string run(const ucg_oob_t* oob, std::uint32_t rank) {
    my_rank = rank;
    ucg_context_h context = nullptr;
    if (ucg_context_create(nullptr, &context) != UCS_OK) return "no context";
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = oob;
    ucg_group_h group = nullptr;
    if (ucg_group_create(context, &params, &group) != UCS_OK) return "no group";
    if (ucg_group_wait(group) != UCS_OK) return "the group was not made";
    ucg_moe_team_params_t experts = UCG_MOE_TEAM_PARAMS_INIT;
    experts.experts = ranks * local;
    ucg_moe_team_h team = nullptr;
    if (ucg_moe_team_create(group, &experts, &team) != UCS_OK) return "no team";

    std::vector<std::int64_t> topk;
    std::vector<float> weights;
    std::vector<std::uint16_t> x;
    for (std::uint32_t token = 0; token < tokens; ++token) {
        for (std::uint32_t j = 0; j < k; ++j) {
            topk.push_back(choice(rank, token, j));
            weights.push_back(weight(token, j));
        }
        for (std::uint32_t h = 0; h < hidden; ++h)
            x.push_back(narrow(number(rank, token, h)));
    }
    const ucs_status_t status =
        layer(team, topk.data(), weights.data(), k, x.data(), tokens, hidden, apply);
    std::string wrong;
    if (status != UCS_OK) wrong = ucs_status_string(status);
    for (std::uint32_t token = 0; token < tokens; ++token) {
        float factor = 0;
        for (std::uint32_t j = 0; j < k; ++j)
            if (const std::int64_t e = choice(rank, token, j); e >= 0)
                factor += weight(token, j) * static_cast<float>(e + 1);
        for (std::uint32_t h = 0; h < hidden; ++h) {
            const float made = widen(x[token * hidden + h]);
            if (made != factor * number(rank, token, h))
                wrong = fmt::format("token {} of rank {} is {}", token, rank, made);
        }
    }
    ucg_moe_team_destroy(team);
    ucg_group_destroy(group);
    ucg_context_destroy(context);
    return wrong;
}

}  // namespace

TEST_CASE("moe in C: the program of the page works") {
    std::vector<ucg_oob_t*> all(ranks);
    REQUIRE(ucg_oob_create_local(ranks, all.data()) == UCS_OK);
    CHECK(test::run_as_threads(ranks, [&](std::uint32_t rank) { return run(all[rank], rank); }) ==
          "");
    for (ucg_oob_t* const each : all)
        ucg_oob_destroy(each);
}
