// A rank's part in the operations of an exchange.
#pragma once

#include <memory>
#include <utility>

#include "test/sim/ucg/exchange_plan.hpp"
#include "test/sim/ucg/part.hpp"
#include "test/sim/ucg/tensor.hpp"

namespace group_sim {

// What a rank keeps from one of these operations to the next. Gone before the group is.
class exchange {
public:
    exchange(const exchange_plan& of, ucg_group_h in, std::uint32_t rank);
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    ~exchange() { let_go(); }

    // Whether there is what an operation needs of those before.
    [[nodiscard]] bool allows(const step_plan& step) const noexcept;
    // Requests keep what they need.
    void let_go() noexcept;

    const exchange_plan& of;
    const std::uint32_t rank;
    ucg_moe_team_h team = nullptr;
    ucg_moe_handle_h handle = nullptr;
    ucg_moe_slots_h slots = nullptr;
};

// Makes the request of one operation, and looks at its results.
class exchange_part : public part {
public:
    exchange_part(const step_plan& by, exchange& with)
        : by_(by), with_(with), of_(with.of), gates_(with.of.gates), rank_(with.rank) {}
    // What an operation of `by` needs stays in `with`.
    [[nodiscard]] static std::unique_ptr<part> make(const step_plan& by, exchange& with);

protected:
    // What a rank gives; the same on all ranks.
    [[nodiscard]] std::uint64_t bits(unsigned start, std::uint64_t what, std::uint64_t rank,
                                     std::uint64_t row, std::uint64_t column) const noexcept;
    // Whole numbers whose sums have no rounding.
    [[nodiscard]] std::int64_t weight(unsigned start, std::uint64_t rank, std::uint64_t row,
                                      std::uint64_t column) const noexcept;
    [[nodiscard]] std::int64_t value(unsigned start, std::uint64_t rank, std::uint64_t row,
                                     std::uint64_t column) const noexcept;
    [[nodiscard]] std::uint32_t tokens() const { return gates_.tokens(rank_); }
    [[nodiscard]] std::uint32_t place(test::moe::row of, std::uint32_t j) const {
        return of_.places[of.source][std::size_t{of.token} * gates_.k + j];
    }
    // The choices of this rank, which are copied by whoever reads them.
    [[nodiscard]] tensor topk() const;

    const step_plan& by_;
    exchange& with_;
    const exchange_plan& of_;
    const test::moe::gating& gates_;
    const std::uint32_t rank_;
};

// Fills the three arguments that all operations have.
template<class Args>
void put_ending(const ending& how, Args& into) {
    into.timeout = how.timeout;
    into.callback = how.callback;
    into.callback_arg = how.arg;
}

// The first text that is not empty.
[[nodiscard]] std::string first_of(std::initializer_list<std::string> texts);

}  // namespace group_sim
