// A rank's part in notify, dispatch and combine.
#pragma once

#include <array>

#include "test/sim/ucg/exchange.hpp"

namespace group_sim {

class notify_part final : public exchange_part {
public:
    using exchange_part::exchange_part;
    ucs_status_t init(const ending& how, ucg_request_h* request_p) override;
    void prepare(unsigned, ucg_request_h) override {}
    [[nodiscard]] std::string look_at_result(ucg_request_h request) override;
};

// Rows of this rank, one for each token or for each choice.
class routed_part : public exchange_part {
public:
    routed_part(const step_plan& by, exchange& with);

protected:
    [[nodiscard]] bool expanded() const noexcept { return by_.alignment != 0; }
    // Of a rank's choice the row of the expanded layout.
    [[nodiscard]] std::uint32_t row_at(std::uint32_t holder, test::moe::row of, std::uint32_t j,
                                       std::int64_t expert) const;
    // The expansion of the handle; null: none is wanted.
    ucs_status_t expand(ucg_moe_expansion_h* into) const;

    std::uint32_t rows_ = 0;  // that this rank receives, with padding
    // Of each rank, where its experts begin.
    std::vector<std::vector<std::uint32_t>> begins_;
};

class dispatch_part final : public routed_part {
public:
    dispatch_part(const step_plan& by, exchange& with);
    ucs_status_t init(const ending& how, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string look_at_result(ucg_request_h request) override;

private:
    [[nodiscard]] ucg_moe_dispatch_args_t describe(const ending& how) const;
    void put_row(unsigned start, std::uint32_t at, test::moe::row from);
    void put_expanded(unsigned start);
    void put_zeros();

    tensor x_, scales_, weights_;
    tensor out_x_, out_scales_, out_weights_, out_topk_;
};

class combine_part final : public routed_part {
public:
    combine_part(const step_plan& by, exchange& with);
    ucs_status_t init(const ending& how, ucg_request_h* request_p) override;
    void prepare(unsigned start, ucg_request_h request) override;
    [[nodiscard]] std::string look_at_result(ucg_request_h request) override;

private:
    // Calls rows(holder, row, j) for each row that is added up for a token of this rank; j: the
    // choice that it is of, k: all.
    template<class Rows>
    void for_each_row(std::uint32_t token, const Rows& rows) const;

    tensor y_, weights_;
    std::array<tensor, 2> bias_;
    tensor sums_, weight_sums_;
};

}  // namespace group_sim
