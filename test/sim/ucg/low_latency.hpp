// One rank's requests and memory in low-latency MoE operations.
#pragma once

#include "test/sim/ucg/exchange.hpp"

namespace group_sim {

class low_latency_dispatch_part final : public exchange_part {
public:
    low_latency_dispatch_part(const step_plan& step, exchange& exchange);
    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string check_result(ucg_request_h request) override;

private:
    [[nodiscard]] std::string take_slots(ucg_request_h request);

    tensor x_, out_x_, out_tokens_;
};

class low_latency_combine_part final : public exchange_part {
public:
    low_latency_combine_part(const step_plan& step, exchange& exchange);
    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string check_result(ucg_request_h request) override;

private:
    tensor y_, weights_, sums_;
};

}  // namespace group_sim
