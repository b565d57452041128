// One rank's request and memory in a collective.
#pragma once

#include <memory>
#include <vector>

#include "test/sim/ucg/data.hpp"
#include "test/sim/ucg/part.hpp"

namespace group_sim {

class collective_part final : public part {
public:
    collective_part(const collective_plan& plan, ucg_group_h group, std::uint32_t ranks,
                    std::uint32_t rank)
        : plan_(plan), group_(group), ranks_(ranks), rank_(rank) {}

    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string check_result(ucg_request_h request) override;

private:
    [[nodiscard]] std::unique_ptr<memory> memory_of(unsigned start) const {
        return std::make_unique<memory>(plan_, ranks_, rank_, start);
    }

    const collective_plan& plan_;
    ucg_group_h group_;
    const std::uint32_t ranks_, rank_;
    std::vector<std::unique_ptr<memory>> data_;  // memory of each start, or one for all starts
};

}  // namespace group_sim
