// Requests of MoE notify, dispatch and combine.
#include <algorithm>
#include <cmath>

#include "ucg/capi/moe_handles.hpp"
#include "ucg/capi/moe_tensor.hpp"
#include "ucg/moe/normal/combine.hpp"
#include "ucg/moe/normal/routed_dispatch.hpp"

using namespace ucg;
using namespace ucg::capi;

static_assert(UCG_MOE_ROUTE_CHOOSE == static_cast<int>(moe::route::choose));
static_assert(UCG_MOE_ROUTE_DIRECT == static_cast<int>(moe::route::direct));
static_assert(UCG_MOE_ROUTE_RELAYED == static_cast<int>(moe::route::relayed));

namespace {

// The link costs for the choice of routes: the user's values or fixed defaults. Measurements of the
// group are not used, because the routes of tokens, and so the number of roundings of sums, must
// not depend on the load of the machine.
moe::link_costs costs_of(const group& self) noexcept {
    const config& options = self.get_context().options();
    moe::link_costs made;
    if (!std::isnan(options.latency.seconds)) made.between_nodes.latency = options.latency.seconds;
    if (!std::isnan(options.bandwidth.bytes_per_second))
        made.between_nodes.per_byte = 1 / options.bandwidth.bytes_per_second;
    made.ports = std::max(options.rails, 1U);
    return made;
}

// The arguments of notify in the form of the exchange.
struct routing {
    moe::const_matrix topk;
    moe::settings settings;

    ucs_status_t read(const char* call, const group& self, const ucg_moe_notify_args_t& args) {
        if (args.route < UCG_MOE_ROUTE_CHOOSE || args.route > UCG_MOE_ROUTE_RELAYED)
            return refuse(call, "the route is none of ucg_moe_route_t");
        constexpr unsigned known = UCG_MOE_NOTIFY_ALL_COUNTS | UCG_MOE_NOTIFY_HOLDERS;
        if ((args.flags & ~known) != 0) return refuse(call, "unknown flags", UCS_ERR_UNSUPPORTED);
        tensor_reader tensors(call);
        topk = tensors.matrix("topk", args.topk);
        if (args.channels != 0) settings.channels = args.channels;
        if (args.channel_tokens != 0) settings.min_channel_tokens = args.channel_tokens;
        if (args.token_bytes != 0) settings.token_bytes = static_cast<double>(args.token_bytes);
        settings.routing = static_cast<moe::route>(args.route);
        settings.costs = costs_of(self);
        settings.all_counts = (args.flags & UCG_MOE_NOTIFY_ALL_COUNTS) != 0;
        settings.holders = (args.flags & UCG_MOE_NOTIFY_HOLDERS) != 0;
        return tensors.status();
    }
};

ucs_status_t read(const char* call, const ucg_moe_dispatch_args_t& args,
                  moe::dispatch_tensors& tensors_out) {
    constexpr unsigned known = UCG_MOE_DISPATCH_ZERO_PADDING;
    if ((args.flags & ~known) != 0) return refuse(call, "unknown flags", UCS_ERR_UNSUPPORTED);
    tensor_reader tensors(call);
    tensors_out.from[moe::values] = tensors.matrix("x", args.x);
    tensors_out.from[moe::scales] = tensors.matrix("scales", args.scales);
    tensors_out.from[moe::weights] = tensors.matrix("weights", args.weights);
    tensors_out.into.into[moe::values] = tensors.matrix("out_x", args.out_x);
    tensors_out.into.into[moe::scales] = tensors.matrix("out_scales", args.out_scales);
    tensors_out.into.into[moe::weights] = tensors.matrix("out_weights", args.out_weights);
    tensors_out.into.chosen = tensors.matrix("out_topk", args.out_topk);
    tensors_out.zero_padding = (args.flags & UCG_MOE_DISPATCH_ZERO_PADDING) != 0;
    return tensors.status();
}

ucs_status_t read(const char* call, const ucg_moe_combine_args_t& args,
                  moe::combine_tensors& tensors_out) {
    tensor_reader tensors(call);
    tensors_out.from[moe::values] = tensors.matrix("x", args.x);
    tensors_out.from[moe::weights] = tensors.matrix("weights", args.weights);
    tensors_out.bias = {tensors.matrix("bias[0]", args.bias[0]),
                        tensors.matrix("bias[1]", args.bias[1])};
    tensors_out.into[moe::values] = tensors.matrix("out_x", args.out_x);
    tensors_out.into[moe::weights] = tensors.matrix("out_weights", args.out_weights);
    return tensors.status();
}

// Keeps the rows of an expansion for the exchange. The expansion must belong to the same handle.
template<class Exchange>
ucs_status_t expand(const char* call, ucg_moe_handle_h handle, ucg_moe_expansion_h expansion,
                    kept_exchange<Exchange>& kept, const moe::expansion*& rows) {
    if (expansion == nullptr) return UCS_OK;
    if (expansion->plan != handle->plan)
        return refuse(call, "the expansion is one of another handle");
    kept.keep(expansion->rows);
    rows = expansion->rows.get();
    return UCS_OK;
}

}  // namespace

ucs_status_t ucg_moe_notify_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* args,
                                 ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_notify_init";
    const init_call<ucg_moe_team, ucg_moe_notify_args_t> init{
        call, program_kind::moe_notify, program_starts::one, team, args, request_p};
    return make_request<moe::notify>(
        init, UCG_MOE_NOTIFY_ARGS_INIT, [&](auto& made, const auto& all) {
            routing wanted;
            const ucs_status_t status = wanted.read(call, team->group, all);
            return status != UCS_OK
                       ? status
                       : made.exchange().init(team->team, wanted.topk, wanted.settings);
        });
}

ucs_status_t ucg_moe_notify_dispatch_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* choices,
                                          const ucg_moe_dispatch_args_t* args, uint32_t alignment,
                                          ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_notify_dispatch_init";
    if (request_p != nullptr) *request_p = nullptr;
    ucg_moe_notify_args_t notify_args = UCG_MOE_NOTIFY_ARGS_INIT;
    if (const ucs_status_t status = read_args(call, choices, notify_args); status != UCS_OK)
        return status;
    const init_call<ucg_moe_team, ucg_moe_dispatch_args_t> init{
        call, program_kind::moe_notify_dispatch, program_starts::one, team, args, request_p};
    return make_request<moe::routed_dispatch>(
        init, UCG_MOE_DISPATCH_ARGS_INIT, [&](auto& made, const auto& all) {
            if (all.expansion != nullptr)
                return refuse(call, "there is no expansion yet: give the alignment instead of one");
            routing wanted;
            moe::dispatch_tensors moved;
            ucs_status_t status = wanted.read(call, team->group, notify_args);
            if (status == UCS_OK) status = read(call, all, moved);
            if (status != UCS_OK) return status;
            return made.exchange().init(team->team, wanted.topk, wanted.settings, moved, alignment);
        });
}

ucs_status_t ucg_moe_dispatch_init(ucg_moe_handle_h handle, const ucg_moe_dispatch_args_t* args,
                                   ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_dispatch_init";
    const init_call<ucg_moe_handle, ucg_moe_dispatch_args_t> init{
        call, program_kind::moe_dispatch, program_starts::any_number, handle, args, request_p};
    return make_request<moe::dispatch>(
        init, UCG_MOE_DISPATCH_ARGS_INIT, [&](auto& made, const auto& all) {
            moe::dispatch_tensors tensors;
            ucs_status_t status = read(call, all, tensors);
            if (status == UCS_OK)
                status = expand(call, handle, all.expansion, made, tensors.into.expanded);
            return status != UCS_OK ? status : made.exchange().init(handle->plan, tensors);
        });
}

ucs_status_t ucg_moe_combine_init(ucg_moe_handle_h handle, const ucg_moe_combine_args_t* args,
                                  ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_combine_init";
    const init_call<ucg_moe_handle, ucg_moe_combine_args_t> init{
        call, program_kind::moe_combine, program_starts::any_number, handle, args, request_p};
    return make_request<moe::combine>(
        init, UCG_MOE_COMBINE_ARGS_INIT, [&](auto& made, const auto& all) {
            moe::combine_tensors tensors;
            ucs_status_t status = read(call, all, tensors);
            if (status == UCS_OK)
                status = expand(call, handle, all.expansion, made, tensors.expanded);
            return status != UCS_OK ? status : made.exchange().init(handle->plan, tensors);
        });
}
