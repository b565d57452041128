// Record of the operations of a group that failed.
#pragma once

#include <iterator>
#include <map>

#include "ucg/schedule/sequence_numbers.hpp"
#include "ucs/type/status.h"

namespace ucg::net {

// The failures of one series: the last few of operations that this rank has started, and all of
// those that it has not. A rank that receives the report of a recorded failure need not pass it on.
// Owner context.
class failures {
public:
    // Returns UCS_OK if no failure is recorded.
    [[nodiscard]] ucs_status_t status_of(schedule::sequence_t number) const noexcept {
        const auto found = all_.find(number);
        return found == all_.end() ? UCS_OK : found->second;
    }
    // Returns whether the operation is so old that its failure may have been forgotten.
    [[nodiscard]] bool is_forgotten(schedule::sequence_t number) const noexcept {
        return number < forgotten_;
    }
    // `next`: the first operation that this rank has not started. Throws std::bad_alloc.
    void add(schedule::sequence_t number, ucs_status_t why, schedule::sequence_t next) {
        all_.emplace(number, why);
        constexpr std::ptrdiff_t max_remembered = 64;
        while (std::distance(all_.begin(), all_.lower_bound(next)) > max_remembered) {
            forgotten_ = all_.begin()->first + 1;
            all_.erase(all_.begin());
        }
    }
    // Iterates over pairs of number and status, in ascending order of numbers.
    [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
    [[nodiscard]] auto end() const noexcept { return all_.end(); }

private:
    std::map<schedule::sequence_t, ucs_status_t> all_;
    schedule::sequence_t forgotten_ = 0;
};

}  // namespace ucg::net
