// Implementation of ucg_moe_handle_h and ucg_moe_expansion_h: the results of a notify.
#include <algorithm>
#include <numeric>

#include "ucg/capi/moe_handles.hpp"
#include "ucg/moe/normal/routed_dispatch.hpp"
#include "ucg/moe/plan/matrices.hpp"

using namespace ucg;
using namespace ucg::capi;

namespace {

// C callers see the pairs of numbers as twice as many numbers.
using origin = moe::receive_plan::origin;
static_assert(sizeof(origin) == 2 * sizeof(std::uint32_t) && offsetof(origin, token) == 4);
static_assert(std::is_same_v<moe::rank_t, std::uint32_t>);

std::shared_ptr<const moe::plan> plan_of(request& self) noexcept {
    if (self.status() != UCS_OK) return nullptr;
    if (auto* const alone = exchange_of<moe::notify>(self))
        return alone->take_result() ? alone->exchange().take() : nullptr;
    if (auto* const both = exchange_of<moe::routed_dispatch>(self))
        return both->take_result() ? both->exchange().made() : nullptr;
    return nullptr;
}

std::uint32_t relayed_rows(const moe::plan& plan) noexcept {
    return std::accumulate(plan.relays.counts.begin(), plan.relays.counts.end(), 0U);
}

bool fit_rounded_up(const std::vector<std::uint32_t>& counts, std::uint64_t alignment) noexcept {
    return std::ranges::all_of(counts, [&](std::uint64_t count) {
        return (count + alignment - 1) / alignment * alignment <= INT32_MAX;
    });
}

}  // namespace

ucs_status_t ucg_moe_notify_handle(ucg_request_h request, ucg_moe_handle_h* handle_p) {
    constexpr const char* call = "ucg_moe_notify_handle";
    if (request == nullptr || handle_p == nullptr)
        return refuse(call, "the request or handle_p is NULL");
    *handle_p = nullptr;
    class request& self = from(request);
    return with_lock(self.get_group().get_context(), [&] {
        auto made = std::make_unique<ucg_moe_handle>(ucg_moe_handle{self.get_group(), nullptr});
        made->plan = plan_of(self);
        if (made->plan == nullptr)
            return refuse(call,
                          "there is no handle: it was taken, or this is no notify that ended well",
                          UCS_ERR_NO_ELEM);
        *handle_p = made.release();
        return UCS_OK;
    });
}

void ucg_moe_handle_release(ucg_moe_handle_h handle) {
    delete handle;
}

ucs_status_t ucg_moe_handle_query(ucg_moe_handle_h handle, ucg_moe_handle_attr_t* attr) {
    if (handle == nullptr || attr == nullptr)
        return refuse("ucg_moe_handle_query", "the handle or attr is NULL");
    const moe::plan& plan = *handle->plan;
    const auto* const origins =
        reinterpret_cast<const std::uint32_t*>(plan.receives.origins.data());
    return return_attr(attr,
                       {sizeof *attr, plan.chosen.tokens(), plan.chosen.k(), plan.receives.rows,
                        relayed_rows(plan), plan.options.channels, plan.group->local_experts(),
                        plan.receives.per_expert.data(), plan.receives.chosen.data(), origins});
}

ucs_status_t ucg_moe_handle_matrices(ucg_moe_handle_h handle, ucg_moe_matrices_t* matrices) {
    constexpr const char* call = "ucg_moe_handle_matrices";
    if (handle == nullptr) return refuse(call, "the handle is NULL");
    ucg_moe_matrices_t all = UCG_MOE_MATRICES_INIT;
    if (const ucs_status_t status = read_args<ucg_moe_matrices_t>(call, matrices, all);
        status != UCS_OK)
        return status;
    const std::uint32_t alignment = std::max(all.alignment, 1U);
    if (all.per_expert != nullptr && !fit_rounded_up(handle->plan->receives.per_expert, alignment))
        return refuse(call, "an expert has more rows than 2^31 - 1, rounded up to the alignment",
                      UCS_ERR_EXCEEDS_LIMIT);
    const moe::settings& settings = handle->plan->options;
    if ((all.received_by_all != nullptr && !settings.all_counts) ||
        (all.holders != nullptr && !settings.holders))
        return refuse(call, "the notify had no flag for received_by_all or holders",
                      UCS_ERR_NO_ELEM);
    return with_lock(handle->group.get_context(), [&] {
        const moe::plan& plan = *handle->plan;
        const auto fill = [&](std::int32_t* into, moe::table (*make)(const moe::plan&)) {
            if (into != nullptr) std::ranges::copy(make(plan), into);
        };
        fill(all.sent_to_node, moe::sent_to_node);
        fill(all.sent_to_rank, moe::sent_to_rank);
        fill(all.relayed, moe::relayed);
        fill(all.relayed_by_channel, moe::relayed_by_channel);
        fill(all.received, moe::received);
        fill(all.received_begin, moe::received_begin);
        fill(all.send_place, moe::send_place);
        fill(all.relay_place, moe::relay_place);
        fill(all.rank_place, moe::rank_place);
        fill(all.received_before, moe::received_before);
        fill(all.received_by_all, moe::received_by_all);
        fill(all.source_token, moe::source_token);
        fill(all.source_node, moe::source_node);
        fill(all.holders, moe::holders);
        if (all.per_expert != nullptr)
            std::ranges::copy(moe::per_expert(plan, alignment), all.per_expert);
        return UCS_OK;
    });
}

ucs_status_t ucg_moe_expand(ucg_moe_handle_h handle, uint32_t alignment,
                            ucg_moe_expansion_h* expansion_p) {
    constexpr const char* call = "ucg_moe_expand";
    if (handle == nullptr || expansion_p == nullptr)
        return refuse(call, "the handle or expansion_p is NULL");
    *expansion_p = nullptr;
    return with_lock(handle->group.get_context(), [&] {
        ucs::result<moe::expansion> made = moe::expansion::make(handle->plan->receives, alignment);
        if (!made) return made.status();
        *expansion_p = new ucg_moe_expansion{
            handle->plan, std::make_shared<const moe::expansion>(*std::move(made))};
        return UCS_OK;
    });
}

void ucg_moe_expansion_release(ucg_moe_expansion_h expansion) {
    delete expansion;
}

ucs_status_t ucg_moe_expansion_query(ucg_moe_expansion_h expansion,
                                     ucg_moe_expansion_attr_t* attr) {
    if (expansion == nullptr || attr == nullptr)
        return refuse("ucg_moe_expansion_query", "the expansion or attr is NULL");
    const moe::expansion& rows = *expansion->rows;
    return return_attr(attr, {sizeof *attr, rows.rows(), rows.begins().data(), rows.counts().data(),
                              rows.all_rows().data()});
}
