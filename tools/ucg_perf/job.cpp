#include "tools/ucg_perf/job.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"

namespace tools::ucg_perf {

void check(ucs_status_t status, std::string_view what) {
    if (status == UCS_OK) return;
    throw failure(fmt::format("{}: {}", what, ucs_status_string(status)));
}

job::job(ucg_oob_t* over) : over_(over) {
    ucg_context_h context = nullptr;
    check(ucg_context_create(nullptr, &context), "making a context");
    context_.reset(context);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = over;
    ucg_group_h group = nullptr;
    check(ucg_group_create(context, &params, &group), "making the group");
    group_.reset(group);
    check(ucg_group_wait(group), "making the group");
    check(ucg_group_query(group, &about_), "asking the group");
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = UCG_COLL_BARRIER;
    barrier_ = prepare(args);
}

request job::prepare(const ucg_coll_args_t& args) const {
    ucg_request_h made = nullptr;
    check(ucg_request_init(group_.get(), &args, &made),
          fmt::format("preparing {}", ucg_coll_name(args.coll)));
    return request(made);
}

void job::barrier() const {
    check(ucg_request_start(barrier_.get()), "barrier");
    check(ucg_request_wait(barrier_.get()), "barrier");
}

void job::largest(std::span<double> values) const {
    check(ucg_allreduce(group_.get(), UCG_IN_PLACE, values.data(), values.size(), UCG_TYPE_FP64,
                        UCG_OP_MAX),
          "comparing times");
}

}  // namespace tools::ucg_perf
