// Requests of low latency, and ucg_moe_slots_h.
#include <algorithm>

#include "ucg/capi/moe_handles.hpp"
#include "ucg/capi/moe_tensor.hpp"
#include "ucg/moe/low_latency_combine.hpp"
#include "ucg/moe/low_latency_dispatch.hpp"

using namespace ucg;
using namespace ucg::capi;

namespace {

ucs_status_t read(const char* call, const ucg_moe_low_latency_args_t& args,
                  std::uint32_t local_experts, moe::slot_settings& by, moe::const_matrix& topk,
                  moe::low_latency_tensors& into) {
    if (args.scaling < UCG_MOE_SCALING_EXACT || args.scaling > UCG_MOE_SCALING_EXPONENT)
        return refuse(call, "scaling is none of ucg_moe_scaling_t");
    by = {args.max_tokens, args.cast != 0, static_cast<moe::scaling>(args.scaling)};
    tensor_reader tensors(call);
    topk = tensors.matrix("topk", args.topk);
    into.x = tensors.matrix("x", args.x);
    into.values = tensors.stack("out_x", args.out_x, local_experts);
    into.scales = tensors.stack("out_scales", args.out_scales, local_experts);
    into.tokens_of = tensors.matrix("out_tokens", args.out_tokens);
    return tensors.status();
}

}  // namespace

ucs_status_t ucg_moe_low_latency_dispatch_init(ucg_moe_team_h team,
                                               const ucg_moe_low_latency_args_t* args,
                                               ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_low_latency_dispatch_init";
    if (team == nullptr || request_p == nullptr)
        return refuse(call, "the team or request_p is NULL");
    *request_p = nullptr;
    ucg_moe_low_latency_args_t all = UCG_MOE_LOW_LATENCY_ARGS_INIT;
    if (const ucs_status_t status = take(call, args, all); status != UCS_OK) return status;
    const auto prepare = [&](kept_exchange<moe::low_latency_dispatch>& made) {
        moe::slot_settings by;
        moe::const_matrix topk;
        moe::low_latency_tensors what;
        const ucs_status_t status = read(call, all, team->who->local_experts(), by, topk, what);
        return status != UCS_OK ? status : made.what().init(team->who, by, topk, what);
    };
    return guarded(team->of.of(), [&] {
        return make_request<moe::low_latency_dispatch>(
            team->of, exchange_kind::low_latency_dispatch, "moe_low_latency_dispatch",
            program_starts::any_number, request_p, prepare);
    });
}

ucs_status_t ucg_moe_low_latency_handle(ucg_request_h request, ucg_moe_slots_h* slots_p) {
    constexpr const char* call = "ucg_moe_low_latency_handle";
    if (request == nullptr || slots_p == nullptr)
        return refuse(call, "the request or slots_p is NULL");
    *slots_p = nullptr;
    class request& of = from(request);
    return guarded(of.of().of(), [&] {
        auto* const made = exchange_of<moe::low_latency_dispatch>(of);
        if (made == nullptr || of.status() != UCS_OK || !made->has_result())
            return refuse(call, "there is no handle: this is no dispatch that ended well",
                          UCS_ERR_NO_ELEM);
        auto slots =
            std::make_unique<ucg_moe_slots>(ucg_moe_slots{of.of(), made->what().made(), {}});
        slots->ranges.reserve(slots->by->ranges.size());
        for (const moe::slots::range& each : slots->by->ranges)
            slots->ranges.push_back({each.begin, each.count});
        *slots_p = slots.release();
        return UCS_OK;
    });
}

void ucg_moe_slots_release(ucg_moe_slots_h slots) {
    delete slots;
}

ucs_status_t ucg_moe_slots_query(ucg_moe_slots_h slots, ucg_moe_slots_attr_t* attr) {
    if (slots == nullptr || attr == nullptr)
        return refuse("ucg_moe_slots_query", "the slots or attr is NULL");
    give(attr, {sizeof *attr, slots->by->counts.data(), slots->ranges.data()});
    return UCS_OK;
}

ucs_status_t ucg_moe_low_latency_combine_init(ucg_moe_slots_h slots,
                                              const ucg_moe_low_latency_combine_args_t* args,
                                              ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_low_latency_combine_init";
    if (slots == nullptr || request_p == nullptr)
        return refuse(call, "the slots or request_p is NULL");
    *request_p = nullptr;
    ucg_moe_low_latency_combine_args_t all = UCG_MOE_LOW_LATENCY_COMBINE_ARGS_INIT;
    if (const ucs_status_t status = take(call, args, all); status != UCS_OK) return status;
    const auto prepare = [&](kept_exchange<moe::low_latency_combine>& made) {
        tensor_reader tensors(call);
        moe::low_latency_sums what;
        what.values = constant(tensors.stack("x", all.x, slots->by->of->local_experts()));
        what.weights = tensors.matrix("weights", all.weights);
        what.into = tensors.matrix("out_x", all.out_x);
        if (tensors.status() != UCS_OK) return tensors.status();
        return made.what().init(slots->by, what);
    };
    return guarded(slots->of.of(), [&] {
        return make_request<moe::low_latency_combine>(
            slots->of, exchange_kind::low_latency_combine, "moe_low_latency_combine",
            program_starts::any_number, request_p, prepare);
    });
}
