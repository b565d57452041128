// Implementation of ucg_moe_team_h, and of the local MoE functions.
#include <algorithm>

#include "ucg/capi/moe_handles.hpp"
#include "ucg/capi/moe_tensor.hpp"
#include "ucg/moe/check.hpp"
#include "ucg/moe/numbers/fp8.hpp"
#include "ucg/moe/plan/matrices.hpp"

using namespace ucg;
using namespace ucg::capi;

static_assert(UCG_MOE_SCALING_EXACT == static_cast<int>(moe::scaling::exact));
static_assert(UCG_MOE_SCALING_EXPONENT == static_cast<int>(moe::scaling::exponent));

ucs_status_t ucg_moe_team_create(ucg_group_h group, const ucg_moe_team_params_t* params,
                                 ucg_moe_team_h* team_p) {
    constexpr const char* call = "ucg_moe_team_create";
    if (const ucs_status_t status = check_usable(call, group); status != UCS_OK) return status;
    if (team_p == nullptr) return refuse(call, "team_p is NULL");
    *team_p = nullptr;
    ucg_moe_team_params_t all = UCG_MOE_TEAM_PARAMS_INIT;
    if (const ucs_status_t status = read_args(call, params, all); status != UCS_OK) return status;
    class group& self = from(group);
    return with_lock(self.get_context(), [&] {
        std::span<const std::uint8_t> masked;
        if (all.masked != nullptr) masked = {all.masked, self.size()};
        ucs::result<moe::team> made =
            moe::team::make(self.placement(), self.rank(), all.experts, masked);
        if (!made) return made.status();
        *team_p = new ucg_moe_team{self, std::make_shared<const moe::team>(*std::move(made))};
        return UCS_OK;
    });
}

void ucg_moe_team_destroy(ucg_moe_team_h team) {
    delete team;
}

uint64_t ucg_moe_max_rows(ucg_moe_team_h team, uint32_t k, uint64_t max_tokens,
                          uint32_t alignment) {
    constexpr const char* call = "ucg_moe_max_rows";
    if (team == nullptr || k > moe::choices::max_k || max_tokens > moe::choices::max_tokens) {
        refuse(call, "the team is NULL, or there are more choices or tokens than can be");
        return UINT64_MAX;
    }
    return moe::max_rows(*team->team, k, max_tokens, alignment);
}

ucs_status_t ucg_moe_get_layout(ucg_moe_team_h team, const ucg_moe_tensor_t* topk,
                                ucg_moe_layout_t* layout) {
    constexpr const char* call = "ucg_moe_get_layout";
    if (team == nullptr || topk == nullptr) return refuse(call, "the team or topk is NULL");
    ucg_moe_layout_t all = UCG_MOE_LAYOUT_INIT;
    if (const ucs_status_t status = read_args<ucg_moe_layout_t>(call, layout, all);
        status != UCS_OK)
        return status;
    return with_lock(team->group.get_context(), [&] {
        tensor_reader tensors(call);
        const moe::matrix choices = tensors.matrix("topk", *topk);
        if (tensors.status() != UCS_OK) return tensors.status();
        const ucs::result<moe::choices> chosen = moe::choices::make(*team->team, choices);
        if (!chosen) return chosen.status();
        const moe::layout made = moe::layout_of(*team->team, *chosen, all.in_rank != nullptr);
        const auto copy = [](const auto& from, auto* into) {
            if (into != nullptr) std::ranges::copy(from, into);
        };
        copy(made.per_rank, all.per_rank);
        copy(made.per_node, all.per_node);
        copy(made.per_expert, all.per_expert);
        copy(made.in_rank, all.in_rank);
        return UCS_OK;
    });
}

ucs_status_t ucg_moe_cast_fp8(const ucg_moe_tensor_t* x, ucg_moe_scaling_t scaling,
                              ucg_moe_tensor_t* out, ucg_moe_tensor_t* scales) {
    constexpr const char* call = "ucg_moe_cast_fp8";
    if (x == nullptr || out == nullptr || scales == nullptr)
        return refuse(call, "x, out or scales is NULL");
    if (scaling < UCG_MOE_SCALING_EXACT || scaling > UCG_MOE_SCALING_EXPONENT)
        return refuse(call, "scaling is none of ucg_moe_scaling_t");
    const auto kind = static_cast<moe::scaling>(scaling);
    tensor_reader tensors(call);
    const moe::const_matrix source = tensors.matrix("x", *x);
    const moe::matrix into = tensors.matrix("out", *out);
    const moe::matrix factors = tensors.matrix("scales", *scales);
    if (tensors.status() != UCS_OK) return tensors.status();
    moe::argument_checks checks(call);
    checks.check_shape("x", source, source.rows, source.elements);
    checks.check_type("x", source, "bf16, fp16 or fp32",
                      {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32});
    checks.check_dense_rows("x", source);
    checks.check_multiple("x", source, moe::scaled_group);
    checks.check_shape("output", into, source.rows, source.elements);
    checks.check_type("output", into, "fp8_e4m3", {reduce::element::fp8_e4m3});
    checks.check_shape("scales", factors, source.rows, source.elements / moe::scaled_group);
    checks.check_type("scales", factors, "what the scaling says", {moe::scale_type(kind)});
    checks.check_overlap({moe::read_access("x", source), moe::write_access("output", into),
                          moe::write_access("scales", factors)});
    if (checks.status() != UCS_OK) return checks.status();
    for (std::uint64_t row = 0; row < source.rows; ++row)
        moe::cast_row(into, factors, row, source, row, kind);
    return UCS_OK;
}
