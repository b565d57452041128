// Implementation of the ucg_group_* functions.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "ucg/capi/handles.hpp"
#include "ucs/sys/pause.hpp"

using namespace ucg;
using namespace ucg::capi;

namespace {

constexpr double default_timeout = 300;

ucs::time::nanoseconds deadline_after(double seconds) noexcept {
    constexpr double max_seconds = 1e9;
    const double limited = std::min(seconds == 0 ? default_timeout : seconds, max_seconds);
    return ucs::time::now() + static_cast<ucs::time::nanoseconds>(limited * 1e9);
}

// Copies the program's object. Lookups must be complete or absent. The struct of programs that were
// compiled without lookups ends with `arg`.
bool read(const ucg_oob_t* from, ucg_oob_t& values) noexcept {
    if (from == nullptr || from->struct_size < offsetof(ucg_oob_t, publish)) return false;
    std::memcpy(&values, from, std::min(from->struct_size, sizeof values));
    const bool some = values.publish != nullptr || values.lookup != nullptr ||
                      values.withdraw != nullptr || values.progress != nullptr;
    const bool all = values.publish != nullptr && values.lookup != nullptr &&
                     values.withdraw != nullptr && values.progress != nullptr;
    return values.allgather != nullptr && values.test != nullptr && values.release != nullptr &&
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
    ucg_oob_t oob = UCG_OOB_INIT;
    if (!read(all.oob, oob)) return refuse(call, "params.oob is NULL or incomplete");
    if (oob.size == 0 || oob.size > net::max_ranks || oob.rank >= oob.size)
        return refuse(call, "params.oob: the rank is not below the size, or there are too many");
    if (!(all.timeout >= 0)) return refuse(call, "params.timeout is negative");
    return with_lock(from(context), [&] {
        *group_p = handle(*new group(from(context), std::make_unique<oob_exchange>(oob),
                                     {0, 0, deadline_after(all.timeout), all.siblings}));
        return UCS_OK;
    });
}

ucs_status_t ucg_group_split(ucg_group_h parent, uint32_t color, uint32_t key,
                             ucg_group_h* group_p) {
    constexpr const char* call = "ucg_group_split";
    if (const ucs_status_t status = check_usable(call, parent); status != UCS_OK) return status;
    if (group_p == nullptr) return refuse(call, "group_p is NULL");
    static_assert(UCG_SPLIT_NONE == group_wireup::no_color);
    group& self = from(parent);
    return with_lock(self.get_context(), [&] {
        if (self.used_by().splits != 0)
            return refuse(call, "another split of this group is not ready", UCS_ERR_BUSY);
        *group_p = handle(*new group(self.get_context(), std::make_unique<group_exchange>(self),
                                     {color, key, deadline_after(default_timeout), 0}));
        return UCS_OK;
    });
}

ucs_status_t ucg_group_make_sibling(ucg_group_h handle, ucg_group_h* sibling_p) {
    constexpr const char* call = "ucg_group_make_sibling";
    if (const ucs_status_t status = check_usable(call, handle); status != UCS_OK) return status;
    if (sibling_p == nullptr) return refuse(call, "sibling_p is NULL");
    group& first = from(handle);
    return with_lock(first.get_context(), [&] {
        if (first.copies().left() == 0) return UCS_ERR_NO_RESOURCE;
        auto made = first.copies().make();
        if (!made) return made.status();
        *sibling_p = ucg::capi::handle(*made->release());
        return UCS_OK;
    });
}

ucs_status_t ucg_group_test(ucg_group_h group) {
    if (group == nullptr) return refuse("ucg_group_test", "the group is NULL");
    return with_lock(from(group).get_context(), [&] {
        if (from(group).state() == UCS_INPROGRESS)
            static_cast<void>(from(group).get_context().progress());
        return from(group).state();
    });
}

ucs_status_t ucg_group_wait(ucg_group_h group) {
    ucs_status_t status = ucg_group_test(group);
    ucs::arch::backoff().wait_for([&] { return status != UCS_INPROGRESS; },
                                  [&] {
                                      status = ucg_group_test(group);
                                      return false;
                                  });
    return status;
}

void ucg_group_destroy(ucg_group_h handle) {
    if (handle == nullptr) return;
    group& self = from(handle);
    const std::lock_guard guard(self.get_context().lock());
    const group::dependents& left = self.used_by();
    if (left.requests != 0 || left.splits != 0) {
        refuse("ucg_group_destroy", left.requests != 0
                                        ? "there are requests of it; it is not destroyed"
                                        : "a group is being made of it; it is not destroyed");
        return;
    }
    delete &self;
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
    group& self = from(handle);
    const auto book = self.addresses().book();
    const schedule::placement& placement = self.placement();
    const schedule::rank_t node = placement.node_of(self.rank());
    return return_attr(
        attr,
        {sizeof(ucg_group_attr_t), self.rank(), self.size(), placement.nodes(), node,
         placement.index_of(self.rank()), static_cast<uint32_t>(placement.ranks_on(node).size()),
         static_cast<uint32_t>(book != nullptr ? book->cached_count() : 0), self.copies().left()});
}
