// One rank's request and memory in a collective.
#pragma once

#include "test/sim/ucg/part.hpp"
#include "test/sim/ucg/plan.hpp"
#include "test/support/collective_memory.hpp"

namespace group_sim {

class collective_part final : public part {
public:
    collective_part(const collective_plan& plan, ucg_group_h group, std::uint32_t ranks,
                    std::uint32_t rank)
        : plan_(plan),
          group_(group),
          ranks_(ranks),
          rank_(rank),
          user_{plan.element / 8, plan.commutative} {}

    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override {
        add_memory(0);
        const ucg::reference::layout& layout = data_[0]->layout();
        const auto pointer = [](const std::vector<std::uint64_t>& numbers, bool is_used) {
            return is_used && !numbers.empty() ? numbers.data() : nullptr;
        };
        ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
        args.coll = plan_.coll;
        args.flags = (plan_.in_place ? static_cast<unsigned>(UCG_COLL_IN_PLACE) : 0U) |
                     (plan_.deterministic ? static_cast<unsigned>(UCG_COLL_DETERMINISTIC) : 0U);
        args.src = data_[0]->source();
        args.dst = data_[0]->target();
        args.count = layout.count;
        args.src_counts = pointer(layout.source_counts, true);
        args.dst_counts = pointer(layout.target_counts, true);
        args.src_displs = pointer(layout.source_offsets, plan_.places);
        args.dst_displs = pointer(layout.target_offsets, plan_.places);
        args.type = plan_.type;
        args.root = plan_.root;
        args.op = plan_.op;
        ucg_user_op_t user = UCG_USER_OP_INIT;
        user.function = ucg::reference::word_operator::function;
        user.arg = &user_;
        user.commutative = plan_.commutative ? 1 : 0;
        args.user_op = &user;
        args.element_size = plan_.element;
        args.timeout = completion.timeout;
        args.callback = completion.callback;
        args.callback_arg = completion.arg;
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
    void prepare(unsigned start, ucg_request_h request) override {
        if (start == 0) return;
        if (!plan_.other_buffers) return data_.back()->fill(plan_.seed + start);
        add_memory(start);
        static_cast<void>(
            ucg_request_set_buffers(request, data_.back()->source(), data_.back()->target()));
    }
    [[nodiscard]] std::string check_result(ucg_request_h) override { return data_.back()->wrong(); }

private:
    void add_memory(unsigned start) {
        const auto kind = static_cast<ucg::schedule::collective>(plan_.coll);
        const auto size = [this, kind](std::uint32_t from, std::uint32_t to) {
            if (plan_.coll == UCG_COLL_ALLTOALLV) return plan_.counts[from * ranks_ + to];
            return plan_.counts[traits_of(kind).takes_blocks ? from : to];
        };
        const ucg::reference::problem wanted{kind,
                                             ranks_,
                                             plan_.count,
                                             plan_.root,
                                             plan_.in_place,
                                             size,
                                             plan_.places ? plan_.seed : 0};
        data_.push_back(std::make_unique<test::collective_memory>(
            wanted, ucg::reference::elements{plan_.type, plan_.op, plan_.element, user_}, rank_));
        data_.back()->fill(plan_.seed + start);
    }

    const collective_plan& plan_;
    ucg_group_h group_;
    const std::uint32_t ranks_, rank_;
    ucg::reference::word_operator user_;
    // Memory of each start, or one for all starts.
    std::vector<std::unique_ptr<test::collective_memory>> data_;
};

}  // namespace group_sim
