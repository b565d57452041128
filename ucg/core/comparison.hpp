// Comparison of the arguments with which the ranks call an operation.
#pragma once

#include <vector>

#include "ucg/core/signature.hpp"
#include "ucg/schedule/member.hpp"
#include "ucg/schedule/task.hpp"

namespace ucg {

// First all ranks exchange the signatures of their calls. If these fit, and counts differ from rank
// to rank, each rank gets from all others how many elements they give to it, and all ranks learn
// which rank expected another count. So the verdict is the same on all ranks; only the ranks
// concerned write log lines. Owner context.
class comparison final : public schedule::program {
public:
    // Sets this rank's call. Throws std::bad_alloc.
    void init(schedule::rank_t size, const signature& own, shares own_shares);

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    // After a run that ended with UCS_OK: returns UCS_OK, or the status with which the operation
    // ends on every rank.
    [[nodiscard]] ucs_status_t verdict() const noexcept { return verdict_; }

private:
    // The first count that a rank did not expect.
    struct mismatch {
        std::uint32_t found;  // 0: all counts were expected
        schedule::rank_t from;
        std::uint64_t given, expected;
    };

    schedule::task exchange_counts(schedule::member& me);
    [[nodiscard]] ucs_status_t check_calls(schedule::rank_t me) const noexcept;
    [[nodiscard]] mismatch find_mismatch() const noexcept;
    [[nodiscard]] ucs_status_t check_counts(schedule::rank_t me) const noexcept;

    std::vector<signature> calls_;  // by rank; the own one is set before the exchange
    signature own_{};
    shares own_shares_;
    std::vector<std::uint64_t> received_counts_;  // counts that other ranks give to this one
    std::vector<mismatch> mismatches_;
    ucs_status_t verdict_ = UCS_OK;
};

}  // namespace ucg
