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

    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string check_result(ucg_request_h request) override;

private:
    void add_memory(unsigned start);

    const collective_plan& plan_;
    ucg_group_h group_;
    const std::uint32_t ranks_, rank_;
    ucg::reference::word_operator user_;
    // Memory of each start, or one for all starts.
    std::vector<std::unique_ptr<test::collective_memory>> data_;
};

}  // namespace group_sim
