// ucg_group_h.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "ucg/capi/handles.hpp"
#include "ucg/core/wait.hpp"

using namespace ucg;
using namespace ucg::capi;

namespace {

constexpr double usual_timeout = 300;

ucs::time::nanoseconds deadline_after(double seconds) noexcept {
    constexpr double longest = 1e9;
    const double limited = std::min(seconds == 0 ? usual_timeout : seconds, longest);
    return ucs::time::now() + static_cast<ucs::time::nanoseconds>(limited * 1e9);
}

// Lookups are all there, or none; programs compiled before there were any end with `arg`.
bool read(const ucg_oob_t* from, ucg_oob_t& into) noexcept {
    if (from == nullptr || from->struct_size < offsetof(ucg_oob_t, publish)) return false;
    std::memcpy(&into, from, std::min(from->struct_size, sizeof into));
    const bool some = into.publish != nullptr || into.lookup != nullptr ||
                      into.withdraw != nullptr || into.progress != nullptr;
    const bool all = into.publish != nullptr && into.lookup != nullptr &&
                     into.withdraw != nullptr && into.progress != nullptr;
    return into.allgather != nullptr && into.test != nullptr && into.release != nullptr &&
           some == all;
}

}  // namespace

ucs_status_t ucg_group_create(ucg_context_h context, const ucg_group_params_t* params,
                              ucg_group_h* group_p) {
    constexpr const char* call = "ucg_group_create";
    if (context == nullptr || params == nullptr || group_p == nullptr)
        return refuse(call, "context, params or group_p is NULL");
    ucg_group_params_t all = UCG_GROUP_PARAMS_INIT;
    if (params->struct_size < sizeof params->struct_size)
        return refuse(call, "params was not initialised by UCG_GROUP_PARAMS_INIT");
    std::memcpy(&all, params, std::min(params->struct_size, sizeof all));
    ucg_oob_t over = UCG_OOB_INIT;
    if (!read(all.oob, over)) return refuse(call, "params.oob is NULL or incomplete");
    if (over.size == 0 || over.size > net::most_ranks || over.rank >= over.size)
        return refuse(call, "params.oob: the rank is not below the size, or there are too many");
    if (!(all.timeout >= 0)) return refuse(call, "params.timeout is negative");
    return guarded(from(context), [&] {
        *group_p = handle(*new group(from(context), std::make_unique<oob_exchange>(over),
                                     {0, 0, deadline_after(all.timeout), all.siblings}));
        return UCS_OK;
    });
}

ucs_status_t ucg_group_split(ucg_group_h parent, uint32_t color, uint32_t key,
                             ucg_group_h* group_p) {
    constexpr const char* call = "ucg_group_split";
    if (const ucs_status_t status = check_usable(call, parent); status != UCS_OK) return status;
    if (group_p == nullptr) return refuse(call, "group_p is NULL");
    static_assert(UCG_SPLIT_NONE == joining::no_color);
    group& of = from(parent);
    return guarded(of.of(), [&] {
        if (of.splits() != 0)
            return refuse(call, "another split of this group is not ready", UCS_ERR_BUSY);
        *group_p = handle(*new group(of.of(), std::make_unique<group_exchange>(of),
                                     {color, key, deadline_after(usual_timeout), 0}));
        return UCS_OK;
    });
}

ucs_status_t ucg_group_make_sibling(ucg_group_h handle, ucg_group_h* sibling_p) {
    constexpr const char* call = "ucg_group_make_sibling";
    if (const ucs_status_t status = check_usable(call, handle); status != UCS_OK) return status;
    if (sibling_p == nullptr) return refuse(call, "sibling_p is NULL");
    group& first = from(handle);
    return guarded(first.of(), [&] {
        if (first.siblings_left() == 0) return UCS_ERR_NO_RESOURCE;
        auto made = first.make_sibling();
        if (!made) return made.status();
        *sibling_p = ucg::capi::handle(*made->release());
        return UCS_OK;
    });
}

ucs_status_t ucg_group_test(ucg_group_h group) {
    if (group == nullptr) return refuse("ucg_group_test", "the group is NULL");
    return guarded(from(group).of(), [&] {
        if (from(group).state() == UCS_INPROGRESS) static_cast<void>(from(group).of().progress());
        return from(group).state();
    });
}

ucs_status_t ucg_group_wait(ucg_group_h group) {
    ucs_status_t status = ucg_group_test(group);
    wait_politely([&] { return status != UCS_INPROGRESS; },
                  [&] {
                      status = ucg_group_test(group);
                      return false;
                  });
    return status;
}

void ucg_group_destroy(ucg_group_h handle) {
    if (handle == nullptr) return;
    group& of = from(handle);
    const std::lock_guard guard(of.of().lock());
    if (of.requests() != 0 || of.splits() != 0) {
        refuse("ucg_group_destroy", of.requests() != 0
                                        ? "there are requests of it; it is not destroyed"
                                        : "a group is being made of it; it is not destroyed");
        return;
    }
    delete &of;
}

uint32_t ucg_group_rank(ucg_group_h group) {
    return check_usable("ucg_group_rank", group) == UCS_OK ? from(group).rank() : UINT32_MAX;
}

uint32_t ucg_group_size(ucg_group_h group) {
    return check_usable("ucg_group_size", group) == UCS_OK ? from(group).size() : 0;
}

ucs_status_t ucg_group_query(ucg_group_h handle, ucg_group_attr_t* attr) {
    constexpr const char* call = "ucg_group_query";
    if (const ucs_status_t status = check_usable(call, handle); status != UCS_OK) return status;
    if (attr == nullptr) return refuse(call, "attr is NULL");
    const group& of = from(handle);
    const schedule::placement& where = of.where();
    const schedule::rank_t node = where.node_of(of.rank());
    return give(attr, {sizeof(ucg_group_attr_t), of.rank(), of.size(), where.nodes(), node,
                       where.index_of(of.rank()), static_cast<uint32_t>(where.on(node).size()),
                       static_cast<uint32_t>(of.addresses()), of.siblings_left()});
}
