// A rank's part in a collective.
#pragma once

#include <memory>
#include <vector>

#include "test/sim/ucg/data.hpp"
#include "test/sim/ucg/part.hpp"

namespace group_sim {

class collective_part final : public part {
public:
    collective_part(const collective_plan& of, ucg_group_h in, std::uint32_t ranks,
                    std::uint32_t rank)
        : of_(of), in_(in), ranks_(ranks), rank_(rank) {}

    ucs_status_t init(const ending& how, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string look_at_result(ucg_request_h request) override;

private:
    [[nodiscard]] std::unique_ptr<memory> memory_of(unsigned start) const {
        return std::make_unique<memory>(of_, ranks_, rank_, start);
    }

    const collective_plan& of_;
    ucg_group_h in_;
    const std::uint32_t ranks_, rank_;
    std::vector<std::unique_ptr<memory>> data_;  // of each start, or of all
};

}  // namespace group_sim
