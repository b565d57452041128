// The exchange by which ranks find out whether they call an operation with fitting arguments.
#pragma once

#include <vector>

#include "ucg/core/signature.hpp"
#include "ucg/schedule/member.hpp"
#include "ucg/schedule/program.hpp"

namespace ucg {

// First all say what they call. Where that fits, and numbers of elements differ from rank to rank,
// each then hears from all others how many they give it, and all hear who expected something else.
// So the verdict is the same on all ranks; the log lines are those of the ranks concerned. Owner
// context.
class comparison final : public schedule::program {
public:
    // This rank's call. std::bad_alloc.
    void init(schedule::rank_t size, const signature& mine, shares dealt);

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    // After a run that ended well: UCS_OK, or with what the operation ends on every rank.
    [[nodiscard]] ucs_status_t verdict() const noexcept { return verdict_; }

private:
    // Of what one rank was given, the first that it did not expect.
    struct misfit {
        std::uint32_t found;  // 0: there is none
        schedule::rank_t from;
        std::uint64_t given, expected;
    };

    static schedule::task compare(schedule::member& me, comparison& of);
    static schedule::task give_counts(schedule::member& me, comparison& of);
    [[nodiscard]] ucs_status_t judge_calls(schedule::rank_t me) const noexcept;
    [[nodiscard]] misfit find_misfit() const noexcept;
    [[nodiscard]] ucs_status_t judge_counts(schedule::rank_t me) const noexcept;

    std::vector<signature> calls_;  // by rank; the own one is there from the beginning
    signature mine_{};
    shares dealt_;
    std::vector<std::uint64_t> offered_;  // to this rank
    std::vector<misfit> misfits_;
    ucs_status_t verdict_ = UCS_OK;
};

}  // namespace ucg
