// Which operations of a group failed.
#pragma once

#include <iterator>
#include <map>

#include "ucg/schedule/numbering.hpp"
#include "ucs/type/status.h"

namespace ucg::net {

// Those of one series: of what was started here the last few, and all that was not. Whoever hears
// of one again need not pass it on. Owner context.
class failures {
public:
    // UCS_OK: nobody said so.
    [[nodiscard]] ucs_status_t of(schedule::sequence_t number) const noexcept {
        const auto found = all_.find(number);
        return found == all_.end() ? UCS_OK : found->second;
    }
    // It is so old that nobody can know whether it failed.
    [[nodiscard]] bool is_forgotten(schedule::sequence_t number) const noexcept {
        return number < forgotten_;
    }
    // `next`: the first one that was not started here. std::bad_alloc.
    void add(schedule::sequence_t number, ucs_status_t why, schedule::sequence_t next) {
        all_.emplace(number, why);
        constexpr std::ptrdiff_t most = 64;
        while (std::distance(all_.begin(), all_.lower_bound(next)) > most) {
            forgotten_ = all_.begin()->first + 1;
            all_.erase(all_.begin());
        }
    }
    // In the order of numbers: pairs of number and status.
    [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
    [[nodiscard]] auto end() const noexcept { return all_.end(); }

private:
    std::map<schedule::sequence_t, ucs_status_t> all_;
    schedule::sequence_t forgotten_ = 0;
};

}  // namespace ucg::net
