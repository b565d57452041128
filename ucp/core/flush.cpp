#include "ucp/core/flush.hpp"

#include "ucp/core/worker.hpp"

namespace ucp {

ucs_status_t start_flush(worker& owner, request& group) {
    group_state& state = group.start_group();
    state.left = 1;
    // All requests are allocated first, so that the flush begins as a whole or not at all.
    std::size_t needed = 0;
    owner.endpoints().for_each([&needed](const ep& each) {
        if (each.operations().has_unflushed()) ++needed;
    });
    request_pool& pool = owner.requests();
    ucs::datastruct::list<request, &request::active_hook> parts;
    for (std::size_t i = 0; i < needed; ++i) {
        if (request* part = pool.get(); part != nullptr) {
            parts.push_back(*part);
            continue;
        }
        parts.clear_and_dispose([&pool](request* unused) { pool.put(*unused); });
        return UCS_ERR_NO_MEMORY;
    }
    owner.endpoints().for_each([&](ep& each) {
        if (!each.operations().has_unflushed() || parts.empty()) return;
        request* part = &parts.front();
        parts.pop_front();
        part->flags.assign(request_flags::internal);
        part->status = UCS_INPROGRESS;
        part->owner = &owner;
        part->start_flush().group = &group;
        const ucs_status_t status = each.operations().start_flush(*part);
        if (status == UCS_INPROGRESS) {
            ++state.left;
        } else {
            if (state.outcome == UCS_OK) state.outcome = status;
            pool.put(*part);
        }
    });
    parts.clear_and_dispose([&pool](request* unused) { pool.put(*unused); });
    return --state.left == 0 ? state.outcome : UCS_INPROGRESS;
}

void end_part(request& group, ucs_status_t status) {
    group_state& state = group.state.group;
    if (state.outcome == UCS_OK) state.outcome = status;
    if (--state.left == 0) group.owner->postponed().complete_in_order(group, state.outcome);
}

}  // namespace ucp
