#include "test/sim/ucg/collective.hpp"

namespace group_sim {

ucs_status_t collective_part::init(const completion_args& completion, ucg_request_h* request_p) {
    data_.push_back(memory_of(0));
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = plan_.coll;
    args.flags = (plan_.in_place ? static_cast<unsigned>(UCG_COLL_IN_PLACE) : 0U) |
                 (plan_.deterministic ? static_cast<unsigned>(UCG_COLL_DETERMINISTIC) : 0U);
    args.count = plan_.count;
    args.type = plan_.type;
    args.root = plan_.root;
    args.op = plan_.op;
    const ucg_user_op_t user = user_operator(plan_);
    args.user_op = &user;
    args.element_size = plan_.element;
    args.timeout = completion.timeout;
    args.callback = completion.callback;
    args.callback_arg = completion.arg;
    data_[0]->describe(args);
    if (!plan_.algorithm.empty()) {
        // If the algorithm does not support the call, all ranks get the same error.
        args.algorithm = plan_.algorithm.c_str();
        const ucs_status_t status = ucg_request_init(group_, &args, request_p);
        if (status != UCS_ERR_NO_ELEM) return status;
        static_cast<void>(ucg_request_free(*request_p));
        args.algorithm = nullptr;
    }
    return ucg_request_init(group_, &args, request_p);
}

void collective_part::prepare(unsigned start, ucg_request_h request) {
    if (start == 0) return;
    std::unique_ptr<memory> fresh = memory_of(start);
    if (!plan_.other_buffers) {
        data_.back()->fill_from(*fresh);
        return;
    }
    static_cast<void>(ucg_request_set_buffers(request, fresh->src(), fresh->dst()));
    data_.push_back(std::move(fresh));
}

std::string collective_part::check_result(ucg_request_h) {
    return data_.back()->wrong();
}

}  // namespace group_sim
