// Requests of notify, dispatch and combine.
#include <algorithm>

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

// What the group knows of its links, for the choice of routes.
moe::link_costs costs_of(const group& of) noexcept {
    moe::link_costs made;
    made.between = of.links();
    made.inside = of.links();
    made.inside.latency = of.links().inside.latency;
    made.inside.per_byte = of.links().inside.per_byte;
    made.inside.per_message = of.links().inside.per_message;
    made.inside.gap = of.links().inside.gap;
    made.ports = std::max(of.of().options().rails, 1U);
    return made;
}

// The arguments of notify as the exchange has them.
struct routing {
    moe::const_matrix topk;
    moe::settings by;

    ucs_status_t read(const char* call, const group& of, const ucg_moe_notify_args_t& args) {
        if (args.route < UCG_MOE_ROUTE_CHOOSE || args.route > UCG_MOE_ROUTE_RELAYED)
            return refuse(call, "the route is none of ucg_moe_route_t");
        tensor_reader tensors(call);
        topk = tensors.matrix("topk", args.topk);
        if (args.channels != 0) by.channels = args.channels;
        if (args.channel_tokens != 0) by.shortest = args.channel_tokens;
        if (args.token_bytes != 0) by.token_bytes = static_cast<double>(args.token_bytes);
        by.how = static_cast<moe::route>(args.route);
        by.costs = costs_of(of);
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
    if (team == nullptr || request_p == nullptr)
        return refuse(call, "the team or request_p is NULL");
    *request_p = nullptr;
    ucg_moe_notify_args_t all = UCG_MOE_NOTIFY_ARGS_INIT;
    if (const ucs_status_t status = take(call, args, all); status != UCS_OK) return status;
    const auto prepare = [&](kept_exchange<moe::notify>& made) {
        routing by;
        const ucs_status_t status = by.read(call, team->of, all);
        return status != UCS_OK ? status : made.what().init(team->who, by.topk, by.by);
    };
    return guarded(team->of.of(), [&] {
        return make_request<moe::notify>(team->of, exchange_kind::notify, "moe_notify",
                                         program_starts::one, request_p, prepare);
    });
}

ucs_status_t ucg_moe_notify_dispatch_init(ucg_moe_team_h team, const ucg_moe_notify_args_t* args,
                                          const ucg_moe_dispatch_args_t* tensors,
                                          uint32_t alignment, ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_notify_dispatch_init";
    if (team == nullptr || request_p == nullptr)
        return refuse(call, "the team or request_p is NULL");
    *request_p = nullptr;
    ucg_moe_notify_args_t all = UCG_MOE_NOTIFY_ARGS_INIT;
    ucg_moe_dispatch_args_t what = UCG_MOE_DISPATCH_ARGS_INIT;
    ucs_status_t status = take(call, args, all);
    if (status == UCS_OK) status = take(call, tensors, what);
    if (status != UCS_OK) return status;
    const auto prepare = [&](kept_exchange<moe::routed_dispatch>& made) {
        if (what.expansion != nullptr)
            return refuse(call, "there is no expansion yet: give the alignment instead of one");
        routing by;
        moe::dispatch_tensors moved;
        ucs_status_t read_well = by.read(call, team->of, all);
        if (read_well == UCS_OK) read_well = read(call, what, moved);
        if (read_well != UCS_OK) return read_well;
        return made.what().init(team->who, by.topk, by.by, moved, alignment);
    };
    return guarded(team->of.of(), [&] {
        return make_request<moe::routed_dispatch>(team->of, exchange_kind::notify_dispatch,
                                                  "moe_notify_dispatch", program_starts::one,
                                                  request_p, prepare);
    });
}

ucs_status_t ucg_moe_dispatch_init(ucg_moe_handle_h handle, const ucg_moe_dispatch_args_t* args,
                                   ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_dispatch_init";
    if (handle == nullptr || request_p == nullptr)
        return refuse(call, "the handle or request_p is NULL");
    *request_p = nullptr;
    ucg_moe_dispatch_args_t all = UCG_MOE_DISPATCH_ARGS_INIT;
    if (const ucs_status_t status = take(call, args, all); status != UCS_OK) return status;
    const auto prepare = [&](kept_exchange<moe::dispatch>& made) {
        moe::dispatch_tensors what;
        ucs_status_t status = read(call, all, what);
        if (status == UCS_OK)
            status = expand(call, handle, all.expansion, made, what.into.expanded);
        return status != UCS_OK ? status : made.what().init(handle->by, what);
    };
    return guarded(handle->of.of(), [&] {
        return make_request<moe::dispatch>(handle->of, exchange_kind::dispatch, "moe_dispatch",
                                           program_starts::any_number, request_p, prepare);
    });
}

ucs_status_t ucg_moe_combine_init(ucg_moe_handle_h handle, const ucg_moe_combine_args_t* args,
                                  ucg_request_h* request_p) {
    constexpr const char* call = "ucg_moe_combine_init";
    if (handle == nullptr || request_p == nullptr)
        return refuse(call, "the handle or request_p is NULL");
    *request_p = nullptr;
    ucg_moe_combine_args_t all = UCG_MOE_COMBINE_ARGS_INIT;
    if (const ucs_status_t status = take(call, args, all); status != UCS_OK) return status;
    const auto prepare = [&](kept_exchange<moe::combine>& made) {
        moe::combine_tensors what;
        ucs_status_t status = read(call, all, what);
        if (status == UCS_OK) status = expand(call, handle, all.expansion, made, what.expanded);
        return status != UCS_OK ? status : made.what().init(handle->by, what);
    };
    return guarded(handle->of.of(), [&] {
        return make_request<moe::combine>(handle->of, exchange_kind::combine, "moe_combine",
                                          program_starts::any_number, request_p, prepare);
    });
}
