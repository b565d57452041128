// What the user wants used instead of what is predicted to be cheapest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ucg/schedule/step.hpp"

namespace ucg::select {

// Of one collective, such as "0-4k:recursive_doubling,4k-inf@8-64:ring"; the first rule that fits
// counts. Value type.
class rules {
public:
    // Nothing where the text is malformed; the empty text has no rules.
    static std::optional<rules> parse(std::string_view text);

    // The name that they give for a call of so many bytes among so many ranks; empty: none.
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
