// One rank's requests and memory in the operations of a MoE exchange.
#pragma once

#include "test/sim/ucg/exchange_plan.hpp"
#include "test/sim/ucg/part.hpp"
#include "test/sim/ucg/tensor.hpp"

namespace group_sim {

// The handles that a rank keeps between these operations. Destroyed before the group.
class exchange {
public:
    exchange(const exchange_plan& choices, ucg_group_h group, std::uint32_t rank);
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    ~exchange() { release_handles(); }

    // True if the handles that an operation needs exist.
    [[nodiscard]] bool allows(const step_plan& step) const noexcept;
    // Releases the handles. Requests keep what they need.
    void release_handles() noexcept;

    const exchange_plan& choices;
    const std::uint32_t rank;
    ucg_moe_team_h team = nullptr;
    ucg_moe_handle_h handle = nullptr;
    ucg_moe_slots_h slots = nullptr;
};

// Makes the request of one operation, and checks its results.
class exchange_part : public part {
public:
    exchange_part(const step_plan& step, exchange& exchange)
        : step_(step),
          exchange_(exchange),
          plan_(exchange.choices),
          gates_(exchange.choices.gates),
          rank_(exchange.rank) {}
    // Makes the part of a step. Its handles stay in `exchange`.
    [[nodiscard]] static std::unique_ptr<part> make(const step_plan& step, exchange& exchange);

protected:
    // Returns a hash of the arguments, used as an element's content. All ranks compute the same.
    // `purpose` is a number of the kind of data: kinds have different contents.
    [[nodiscard]] std::uint64_t bits(unsigned start, std::uint64_t purpose, std::uint64_t rank,
                                     std::uint64_t row, std::uint64_t column) const noexcept;
    // Integers whose sums are exact.
    [[nodiscard]] std::int64_t weight(unsigned start, std::uint64_t rank, std::uint64_t row,
                                      std::uint64_t column) const noexcept;
    [[nodiscard]] std::int64_t value(unsigned start, std::uint64_t rank, std::uint64_t row,
                                     std::uint64_t column) const noexcept;
    [[nodiscard]] std::uint32_t tokens() const { return gates_.tokens(rank_); }
    [[nodiscard]] std::uint32_t place(test::moe::row token, std::uint32_t j) const {
        return plan_.places[token.source][std::size_t{token.token} * gates_.k + j];
    }
    // The choices of this rank, which their reader copies.
    [[nodiscard]] tensor topk() const;

    const step_plan& step_;
    exchange& exchange_;
    const exchange_plan& plan_;
    const test::moe::gating& gates_;
    const std::uint32_t rank_;
};

// Sets the three arguments that all operations have.
template<class Args>
void set_completion(const completion_args& completion, Args& into) {
    into.timeout = completion.timeout;
    into.callback = completion.callback;
    into.callback_arg = completion.arg;
}

// Returns the first non-empty text.
[[nodiscard]] std::string first_of(std::initializer_list<std::string> texts);

}  // namespace group_sim
