// Lists of transports as UCX_TLS takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/info/options.hpp"

namespace tools::info {

// The transports of the list, or with `negated` all but these. Value type.
struct transport_list {
    std::vector<std::string> names;
    bool negated = false;

    // The names that stand for several transports are replaced by those, "all" by what it means.
    static transport_list parse(std::string_view text);

    // As UCX_TLS takes it; of a list without any transport the text is empty.
    [[nodiscard]] std::string text() const;
};

// The transports that are on both lists.
[[nodiscard]] transport_list intersection(const transport_list& one, const transport_list& other);

// What the command line leaves of the transports.
struct restriction {
    std::string by;  // "-P intra", for people; empty: nothing is left out
    transport_list left;
};
[[nodiscard]] restriction restriction_of(const options& wanted);

}  // namespace tools::info
