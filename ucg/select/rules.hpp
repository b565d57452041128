// Rules of the user for the choice of algorithms, which replace the choice by prediction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ucg/schedule/step.hpp"

namespace ucg::select {

// The rules for one collective, such as "0-4k:recursive_doubling,4k-inf@8-64:ring"; the first one
// that fits applies. Value type.
class rules {
public:
    // Returns nothing if the text is malformed. The empty text has no rules.
    static std::optional<rules> parse(std::string_view text);

    // Returns the name for a call of this many bytes and ranks; empty if no rule fits.
    [[nodiscard]] std::string_view name_for(double bytes, schedule::rank_t ranks) const noexcept;

private:
    struct range {
        double lowest;
        double highest;
        [[nodiscard]] bool has(double value) const noexcept {
            return value >= lowest && value <= highest;
        }
    };
    struct rule {
        range bytes, ranks;
        std::string name;
    };
    static std::optional<range> parse_range(std::string_view text);
    static std::optional<rule> parse_rule(std::string_view text);

    std::vector<rule> rules_;
};

}  // namespace ucg::select
