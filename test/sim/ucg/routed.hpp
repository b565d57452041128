// One rank's requests and memory in notify, dispatch and combine.
#pragma once

#include <array>

#include "test/sim/ucg/exchange.hpp"

namespace group_sim {

class notify_part final : public exchange_part {
public:
    using exchange_part::exchange_part;
    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override;
    void prepare(unsigned, ucg_request_h) override {}
    [[nodiscard]] std::string check_result(ucg_request_h request) override;
};

// The rows of this rank: one for each token, or one for each choice.
class routed_part : public exchange_part {
public:
    routed_part(const step_plan& step, exchange& exchange);

protected:
    [[nodiscard]] bool expanded() const noexcept { return step_.alignment != 0; }
    // The row of a choice in the expanded layout.
    [[nodiscard]] std::uint32_t row_at(std::uint32_t holder, test::moe::row token, std::uint32_t j,
                                       std::int64_t expert) const;
    // The expansion of the handle; null: not needed.
    ucs_status_t expand(ucg_moe_expansion_h* into) const;

    std::uint32_t rows_ = 0;  // received rows, with padding
    // The first row of each expert, for each rank.
    std::vector<std::vector<std::uint32_t>> begins_;
};

class dispatch_part final : public routed_part {
public:
    dispatch_part(const step_plan& step, exchange& exchange);
    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string check_result(ucg_request_h request) override;

private:
    [[nodiscard]] ucg_moe_dispatch_args_t describe(const completion_args& completion) const;
    void put_row(unsigned start, std::uint32_t index, test::moe::row from);
    void put_expanded(unsigned start);
    void put_zeros();

    tensor x_, scales_, weights_;
    tensor out_x_, out_scales_, out_weights_, out_topk_;
};

class combine_part final : public routed_part {
public:
    combine_part(const step_plan& step, exchange& exchange);
    ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string check_result(ucg_request_h request) override;

private:
    // Calls rows(holder, row, j) for each row that is added up for a token of this rank. j is the
    // choice of the row, or k for all choices.
    template<class Rows>
    void for_each_row(std::uint32_t token, const Rows& rows) const;

    tensor y_, weights_;
    std::array<tensor, 2> bias_;
    tensor sums_, weight_sums_;
};

}  // namespace group_sim
