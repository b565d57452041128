#include "test/sim/ucg/collective.hpp"

namespace group_sim {

ucs_status_t collective_part::init(const ending& how, ucg_request_h* request_p) {
    data_.push_back(memory_of(0));
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = of_.coll;
    args.flags = (of_.in_place ? static_cast<unsigned>(UCG_COLL_IN_PLACE) : 0U) |
                 (of_.deterministic ? static_cast<unsigned>(UCG_COLL_DETERMINISTIC) : 0U);
    args.count = of_.count;
    args.type = of_.type;
    args.root = of_.root;
    args.op = of_.op;
    const ucg_user_op_t user = user_operator(of_);
    args.user_op = &user;
    args.element_size = of_.element;
    args.timeout = how.timeout;
    args.callback = how.callback;
    args.callback_arg = how.arg;
    data_[0]->describe(args);
    if (!of_.algorithm.empty()) {
        // All ranks hear the same where it does not fit.
        args.algorithm = of_.algorithm.c_str();
        const ucs_status_t status = ucg_request_init(in_, &args, request_p);
        if (status != UCS_ERR_NO_ELEM) return status;
        static_cast<void>(ucg_request_free(*request_p));
        args.algorithm = nullptr;
    }
    return ucg_request_init(in_, &args, request_p);
}

void collective_part::prepare(unsigned start, ucg_request_h request) {
    if (start == 0) return;
    std::unique_ptr<memory> fresh = memory_of(start);
    if (!of_.other_buffers) {
        data_.back()->fill_from(*fresh);
        return;
    }
    static_cast<void>(ucg_request_set_buffers(request, fresh->src(), fresh->dst()));
    data_.push_back(std::move(fresh));
}

std::string collective_part::look_at_result(ucg_request_h) {
    return data_.back()->wrong();
}

}  // namespace group_sim
