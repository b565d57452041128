// Requests of notify, dispatch and combine.
#include <algorithm>
#include <cmath>

#include "ucg/capi/moe_handles.hpp"
#include "ucg/capi/moe_tensor.hpp"
#include "ucg/moe/combine.hpp"
#include "ucg/moe/routed_dispatch.hpp"

using namespace ucg;
using namespace ucg::capi;

static_assert(UCG_MOE_ROUTE_CHOOSE == static_cast<int>(moe::route::choose));
static_assert(UCG_MOE_ROUTE_DIRECT == static_cast<int>(moe::route::direct));
static_assert(UCG_MOE_ROUTE_RELAYED == static_cast<int>(moe::route::relayed));

namespace {

// For the choice of routes: what is always taken for the cost of links, or what the user says that
// it is. Not what the group measured: which route tokens take, and so how often sums are rounded,
// must not depend on how busy the machine was.
moe::link_costs costs_of(const group& of) noexcept {
    const config& options = of.of().options();
    moe::link_costs made;
    if (!std::isnan(options.latency.seconds)) made.between.latency = options.latency.seconds;
    if (!std::isnan(options.bandwidth.bytes_per_second))
        made.between.per_byte = 1 / options.bandwidth.bytes_per_second;
    made.ports = std::max(options.rails, 1U);
    return made;
}

// The arguments of notify as the exchange has them.
struct routing {
    moe::const_matrix topk;
    moe::settings by;

    ucs_status_t read(const char* call, const group& of, const ucg_moe_notify_args_t& args) {
        if (args.route < UCG_MOE_ROUTE_CHOOSE || args.route > UCG_MOE_ROUTE_RELAYED)
            return refuse(call, "the route is none of ucg_moe_route_t");
        constexpr unsigned known = UCG_MOE_NOTIFY_ALL_COUNTS | UCG_MOE_NOTIFY_HOLDERS;
        if ((args.flags & ~known) != 0) return refuse(call, "unknown flags", UCS_ERR_UNSUPPORTED);
        tensor_reader tensors(call);
        topk = tensors.matrix("topk", args.topk);
        if (args.channels != 0) by.channels = args.channels;
        if (args.channel_tokens != 0) by.shortest = args.channel_tokens;
        if (args.token_bytes != 0) by.token_bytes = static_cast<double>(args.token_bytes);
        by.how = static_cast<moe::route>(args.route);
        by.costs = costs_of(of);
        by.all_counts = (args.flags & UCG_MOE_NOTIFY_ALL_COUNTS) != 0;
        by.holders = (args.flags & UCG_MOE_NOTIFY_HOLDERS) != 0;
        return tensors.status();
    }
};

ucs_status_t read(const char* call, const ucg_moe_dispatch_args_t& args,
                  moe::dispatch_tensors& into) {
    constexpr unsigned known = UCG_MOE_DISPATCH_ZERO_PADDING;
    if ((args.flags & ~known) != 0) return refuse(call, "unknown flags", UCS_ERR_UNSUPPORTED);
    tensor_reader tensors(call);
    into.from[moe::values] = tensors.matrix("x", args.x);
    into.from[moe::scales] = tensors.matrix("scales", args.scales);
    into.from[moe::weights] = tensors.matrix("weights", args.weights);
    into.into.into[moe::values] = tensors.matrix("out_x", args.out_x);
    into.into.into[moe::scales] = tensors.matrix("out_scales", args.out_scales);
    into.into.into[moe::weights] = tensors.matrix("out_weights", args.out_weights);
    into.into.chosen = tensors.matrix("out_topk", args.out_topk);
    into.zero_padding = (args.flags & UCG_MOE_DISPATCH_ZERO_PADDING) != 0;
    return tensors.status();
}

ucs_status_t read(const char* call, const ucg_moe_combine_args_t& args,
                  moe::combine_tensors& into) {
    tensor_reader tensors(call);
    into.from[moe::values] = tensors.matrix("x", args.x);
    into.from[moe::weights] = tensors.matrix("weights", args.weights);
    into.bias = {tensors.matrix("bias[0]", args.bias[0]), tensors.matrix("bias[1]", args.bias[1])};
    into.into[moe::values] = tensors.matrix("out_x", args.out_x);
    into.into[moe::weights] = tensors.matrix("out_weights", args.out_weights);
    return tensors.status();
}

// The rows of an expansion are kept for the exchange; they are those of the same handle.
template<class Exchange>
ucs_status_t expand(const char* call, ucg_moe_handle_h handle, ucg_moe_expansion_h by,
                    kept_exchange<Exchange>& of, const moe::expansion*& rows) {
    if (by == nullptr) return UCS_OK;
    if (by->by != handle->by) return refuse(call, "the expansion is one of another handle");
    of.keep(by->rows);
    rows = by->rows.get();
    return UCS_OK;
}

}  // namespace

ucs_status_t ucg_moe_notify_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* args,
                                 ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_notify_init";
    const asked<ucg_moe_team, ucg_moe_notify_args_t> by{
        call, program_kind::moe_notify, program_starts::one, team, args, request_p};
    return make_request<moe::notify>(
        by, UCG_MOE_NOTIFY_ARGS_INIT, [&](auto& made, const auto& all) {
            routing wanted;
            const ucs_status_t status = wanted.read(call, team->of, all);
            return status != UCS_OK ? status : made.what().init(team->who, wanted.topk, wanted.by);
        });
}

ucs_status_t ucg_moe_notify_dispatch_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* choices,
                                          const ucg_moe_dispatch_args_t* args, uint32_t alignment,
                                          ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_notify_dispatch_init";
    if (request_p != nullptr) *request_p = nullptr;
    ucg_moe_notify_args_t how = UCG_MOE_NOTIFY_ARGS_INIT;
    if (const ucs_status_t status = take(call, choices, how); status != UCS_OK) return status;
    const asked<ucg_moe_team, ucg_moe_dispatch_args_t> by{
        call, program_kind::moe_notify_dispatch, program_starts::one, team, args, request_p};
    return make_request<moe::routed_dispatch>(
        by, UCG_MOE_DISPATCH_ARGS_INIT, [&](auto& made, const auto& all) {
            if (all.expansion != nullptr)
                return refuse(call, "there is no expansion yet: give the alignment instead of one");
            routing wanted;
            moe::dispatch_tensors moved;
            ucs_status_t status = wanted.read(call, team->of, how);
            if (status == UCS_OK) status = read(call, all, moved);
            if (status != UCS_OK) return status;
            return made.what().init(team->who, wanted.topk, wanted.by, moved, alignment);
        });
}

ucs_status_t ucg_moe_dispatch_init(ucg_moe_handle_h handle, const ucg_moe_dispatch_args_t* args,
                                   ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_dispatch_init";
    const asked<ucg_moe_handle, ucg_moe_dispatch_args_t> by{
        call, program_kind::moe_dispatch, program_starts::any_number, handle, args, request_p};
    return make_request<moe::dispatch>(
        by, UCG_MOE_DISPATCH_ARGS_INIT, [&](auto& made, const auto& all) {
            moe::dispatch_tensors what;
            ucs_status_t status = read(call, all, what);
            if (status == UCS_OK)
                status = expand(call, handle, all.expansion, made, what.into.expanded);
            return status != UCS_OK ? status : made.what().init(handle->by, what);
        });
}

ucs_status_t ucg_moe_combine_init(ucg_moe_handle_h handle, const ucg_moe_combine_args_t* args,
                                  ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_combine_init";
    const asked<ucg_moe_handle, ucg_moe_combine_args_t> by{
        call, program_kind::moe_combine, program_starts::any_number, handle, args, request_p};
    return make_request<moe::combine>(
        by, UCG_MOE_COMBINE_ARGS_INIT, [&](auto& made, const auto& all) {
            moe::combine_tensors what;
            ucs_status_t status = read(call, all, what);
            if (status == UCS_OK) status = expand(call, handle, all.expansion, made, what.expanded);
            return status != UCS_OK ? status : made.what().init(handle->by, what);
        });
}
