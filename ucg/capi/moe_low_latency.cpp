// Requests of low-latency MoE, and ucg_moe_slots_h.

#include "ucg/capi/moe_handles.hpp"
#include "ucg/capi/moe_tensor.hpp"
#include "ucg/moe/low_latency/combine.hpp"
#include "ucg/moe/low_latency/dispatch.hpp"

using namespace ucg;
using namespace ucg::capi;

namespace {

static_assert(sizeof(moe::slots::range) == sizeof(ucg_moe_range_t) &&
              offsetof(moe::slots::range, count) == offsetof(ucg_moe_range_t, count));

ucs_status_t read(const char* call, const ucg_moe_low_latency_args_t& args,
                  std::uint32_t local_experts, moe::slot_settings& settings,
                  moe::const_matrix& topk, moe::low_latency_dispatch_tensors& tensors_out) {
    if (args.scaling < UCG_MOE_SCALING_EXACT || args.scaling > UCG_MOE_SCALING_EXPONENT)
        return refuse(call, "scaling is none of ucg_moe_scaling_t");
    settings = {args.max_tokens, args.cast != 0, static_cast<moe::scaling>(args.scaling)};
    tensor_reader tensors(call);
    topk = tensors.matrix("topk", args.topk);
    tensors_out.x = tensors.matrix("x", args.x);
    tensors_out.values = tensors.stack("out_x", args.out_x, local_experts);
    tensors_out.scales = tensors.stack("out_scales", args.out_scales, local_experts);
    tensors_out.token_numbers = tensors.matrix("out_tokens", args.out_tokens);
    return tensors.status();
}

ucs_status_t read(const char* call, const ucg_moe_low_latency_combine_args_t& args,
                  std::uint32_t local_experts, moe::low_latency_combine_tensors& tensors_out) {
    constexpr unsigned compress = UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10;
    constexpr unsigned in_place = UCG_MOE_LOW_LATENCY_COMBINE_ZERO_COPY;
    if ((args.flags & ~(compress | in_place)) != 0)
        return refuse(call, "unknown flags", UCS_ERR_UNSUPPORTED);
    if (args.flags == (compress | in_place))
        return refuse(call,
                      "rows that are compressed are not sent from where they lie: give "
                      "UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10 or _ZERO_COPY");
    if (args.flags == compress) tensors_out.transfer = moe::row_transfer::in_logfmt;
    if (args.flags == in_place) tensors_out.transfer = moe::row_transfer::in_place;
    tensor_reader tensors(call);
    tensors_out.values = tensors.stack("x", args.x, local_experts);
    tensors_out.weights = tensors.matrix("weights", args.weights);
    tensors_out.into = tensors.matrix("out_x", args.out_x);
    return tensors.status();
}

}  // namespace

ucs_status_t ucg_moe_low_latency_dispatch_init(ucg_moe_team_h team,
                                               const ucg_moe_low_latency_args_t* args,
                                               ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_low_latency_dispatch_init";
    const init_call<ucg_moe_team, ucg_moe_low_latency_args_t> init{
        call,     program_kind::moe_low_latency_dispatch, program_starts::any_number, team, args,
        request_p};
    return make_request<moe::low_latency_dispatch>(
        init, UCG_MOE_LOW_LATENCY_ARGS_INIT, [&](auto& made, const auto& all) {
            moe::slot_settings settings;
            moe::const_matrix topk;
            moe::low_latency_dispatch_tensors tensors;
            const ucs_status_t status =
                read(call, all, team->team->local_experts(), settings, topk, tensors);
            return status != UCS_OK ? status
                                    : made.exchange().init(team->team, settings, topk, tensors);
        });
}

ucs_status_t ucg_moe_low_latency_handle(ucg_request_h request, ucg_moe_slots_h* slots_p) {
    constexpr const char* call = "ucg_moe_low_latency_handle";
    if (request == nullptr || slots_p == nullptr)
        return refuse(call, "the request or slots_p is NULL");
    *slots_p = nullptr;
    class request& self = from(request);
    return with_lock(self.get_group().get_context(), [&] {
        auto* const made = exchange_of<moe::low_latency_dispatch>(self);
        if (made == nullptr || self.status() != UCS_OK || !made->has_result())
            return refuse(call, "there is no handle: this is no dispatch that ended well",
                          UCS_ERR_NO_ELEM);
        *slots_p = new ucg_moe_slots{self.get_group(), made->exchange().made()};
        return UCS_OK;
    });
}

// Takes the lock, because the dispatch checks if the results of its starts are still referenced.
void ucg_moe_slots_release(ucg_moe_slots_h slots) {
    if (slots == nullptr) return;
    const std::lock_guard guard(slots->group.get_context().lock());
    delete slots;
}

ucs_status_t ucg_moe_slots_query(ucg_moe_slots_h slots, ucg_moe_slots_attr_t* attr) {
    if (slots == nullptr || attr == nullptr)
        return refuse("ucg_moe_slots_query", "the slots or attr is NULL");
    return return_attr(attr,
                       {sizeof *attr, slots->slots->counts.data(),
                        reinterpret_cast<const ucg_moe_range_t*>(slots->slots->ranges.data())});
}

ucs_status_t ucg_moe_low_latency_combine_init(ucg_moe_slots_h slots,
                                              const ucg_moe_low_latency_combine_args_t* args,
                                              ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_low_latency_combine_init";
    const init_call<ucg_moe_slots, ucg_moe_low_latency_combine_args_t> init{
        call,     program_kind::moe_low_latency_combine, program_starts::any_number, slots, args,
        request_p};
    return make_request<moe::low_latency_combine>(
        init, UCG_MOE_LOW_LATENCY_COMBINE_ARGS_INIT, [&](auto& made, const auto& all) {
            moe::low_latency_combine_tensors tensors;
            const ucs_status_t status =
                read(call, all, slots->slots->plan->group->local_experts(), tensors);
            return status != UCS_OK ? status : made.exchange().init(slots->slots, tensors);
        });
}
