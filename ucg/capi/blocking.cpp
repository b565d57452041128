// Blocking calls: init, start and wait in one call.
#include "ucg/capi/handles.hpp"
#include "ucg/core/collective_request.hpp"

using namespace ucg;
using namespace ucg::capi;

namespace {

// Arrays may have other content at the same address, and the code of a user's operator is the
// program's. Such calls are prepared each time.
bool can_be_kept(const ucg_coll_args_t& args) noexcept {
    return args.src_counts == nullptr && args.dst_counts == nullptr && args.op != UCG_OP_USER &&
           args.algorithm == nullptr;
}

// Returns a request that only this call uses, until give_back(). Throws std::bad_alloc.
collective_request& take(group& self, const ucg_coll_args_t& args) {
    const auto matches = [&](const collective_request& each) {
        return is_same_kind(each.args(), args);
    };
    const bool stays = can_be_kept(args);
    collective_request* taken = stays ? self.kept().find(matches) : nullptr;
    if (taken == nullptr) {
        taken = &self.kept().add(collective_request::make(self, args), stays);
    } else if (taken->args().src != args.src || taken->args().dst != args.dst) {
        // If the buffers are refused, the call ends with an error when it starts.
        static_cast<void>(taken->set_buffers(args.src, args.dst));
    }
    taken->set_idle(false);
    return *taken;
}

// Destroys the request if no later call can use it.
void give_back(group& self, collective_request& request) noexcept {
    request.set_idle(true);
    if (request.refused() != UCS_OK || !can_be_kept(request.args())) self.kept().remove(request);
}

ucs_status_t run(const char* call, ucg_group_h handle, const ucg_coll_args_t& args) noexcept {
    if (const ucs_status_t status = check_usable(call, handle); status != UCS_OK) return status;
    group& self = from(handle);
    collective_request* request = nullptr;
    const auto start = [&] {
        request = &take(self, args);
        return request->start();
    };
    ucs_status_t status = with_lock(self.get_context(), start, call);
    if (status == UCS_OK) status = wait_for(*request);
    if (request != nullptr) {
        const std::lock_guard guard(self.get_context().lock());
        give_back(self, *request);
    }
    return status;
}

ucg_coll_args_t describe(ucg_coll_t coll, const void* src, void* dst, std::uint64_t count,
                         ucg_type_t type) noexcept {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = coll;
    if (src == UCG_IN_PLACE || dst == UCG_IN_PLACE) args.flags |= UCG_COLL_IN_PLACE;
    args.src = src == UCG_IN_PLACE ? nullptr : src;
    args.dst = dst == UCG_IN_PLACE ? nullptr : dst;
    args.count = count;
    args.type = type;
    return args;
}

std::optional<ucs_status_t> run_direct_barrier(ucg_group_h group) noexcept {
    return group != nullptr ? from(group).run_fast_barrier() : std::nullopt;
}

bool is_plain_barrier(const ucg_coll_args_t& args) noexcept {
    return args.coll == UCG_COLL_BARRIER && args.flags == 0 && args.timeout == 0 &&
           args.algorithm == nullptr;
}

}  // namespace

ucs_status_t ucg_barrier(ucg_group_h group) {
    if (const auto status = run_direct_barrier(group)) return *status;
    return run("ucg_barrier", group,
               describe(UCG_COLL_BARRIER, nullptr, nullptr, 0, UCG_TYPE_UINT8));
}

ucs_status_t ucg_bcast(ucg_group_h group, void* buffer, uint64_t count, ucg_type_t type,
                       uint32_t root) {
    ucg_coll_args_t args = describe(UCG_COLL_BCAST, nullptr, buffer, count, type);
    args.root = root;
    return run("ucg_bcast", group, args);
}

ucs_status_t ucg_reduce(ucg_group_h group, const void* src, void* dst, uint64_t count,
                        ucg_type_t type, ucg_op_t op, uint32_t root) {
    ucg_coll_args_t args = describe(UCG_COLL_REDUCE, src, dst, count, type);
    args.op = op;
    args.root = root;
    return run("ucg_reduce", group, args);
}

ucs_status_t ucg_allreduce(ucg_group_h group, const void* src, void* dst, uint64_t count,
                           ucg_type_t type, ucg_op_t op) {
    ucg_coll_args_t args = describe(UCG_COLL_ALLREDUCE, src, dst, count, type);
    args.op = op;
    return run("ucg_allreduce", group, args);
}

ucs_status_t ucg_gather(ucg_group_h group, const void* src, void* dst, uint64_t count,
                        ucg_type_t type, uint32_t root) {
    ucg_coll_args_t args = describe(UCG_COLL_GATHER, src, dst, count, type);
    args.root = root;
    return run("ucg_gather", group, args);
}

ucs_status_t ucg_scatter(ucg_group_h group, const void* src, void* dst, uint64_t count,
                         ucg_type_t type, uint32_t root) {
    ucg_coll_args_t args = describe(UCG_COLL_SCATTER, src, dst, count, type);
    args.root = root;
    return run("ucg_scatter", group, args);
}

ucs_status_t ucg_allgather(ucg_group_h group, const void* src, void* dst, uint64_t count,
                           ucg_type_t type) {
    return run("ucg_allgather", group, describe(UCG_COLL_ALLGATHER, src, dst, count, type));
}

ucs_status_t ucg_reduce_scatter_block(ucg_group_h group, const void* src, void* dst, uint64_t count,
                                      ucg_type_t type, ucg_op_t op) {
    ucg_coll_args_t args = describe(UCG_COLL_REDUCE_SCATTER_BLOCK, src, dst, count, type);
    args.op = op;
    return run("ucg_reduce_scatter_block", group, args);
}

ucs_status_t ucg_alltoall(ucg_group_h group, const void* src, void* dst, uint64_t count,
                          ucg_type_t type) {
    return run("ucg_alltoall", group, describe(UCG_COLL_ALLTOALL, src, dst, count, type));
}

ucs_status_t ucg_scan(ucg_group_h group, const void* src, void* dst, uint64_t count,
                      ucg_type_t type, ucg_op_t op) {
    ucg_coll_args_t args = describe(UCG_COLL_SCAN, src, dst, count, type);
    args.op = op;
    return run("ucg_scan", group, args);
}

ucs_status_t ucg_exscan(ucg_group_h group, const void* src, void* dst, uint64_t count,
                        ucg_type_t type, ucg_op_t op) {
    ucg_coll_args_t args = describe(UCG_COLL_EXSCAN, src, dst, count, type);
    args.op = op;
    return run("ucg_exscan", group, args);
}

// Avoids a copy of the arguments if possible, because it is noticeable for short operations.
ucs_status_t ucg_collective(ucg_group_h group, const ucg_coll_args_t* args) {
    if (arguments::is_complete(args) && args->callback == nullptr) {
        if (is_plain_barrier(*args))
            if (const auto status = run_direct_barrier(group)) return *status;
        return run("ucg_collective", group, *args);
    }
    auto all = arguments::copy(args);
    if (!all) return all.status();
    all->callback = nullptr;
    return run("ucg_collective", group, *all);
}
