// Lists of transports, in the form of UCX_TLS.
#pragma once

#include "tools/info/options.hpp"

namespace tools::info {

// The transports of the list, or if `negated` all others. Value type.
struct transport_list {
    std::vector<std::string> names;
    bool negated = false;

    // Parses a list. Replaces names of several transports by these transports, and "all" by an
    // empty negated list.
    static transport_list parse(std::string_view text);

    // Returns the text for UCX_TLS; empty if the list has no transport.
    [[nodiscard]] std::string text() const;
};

// Returns the transports that are on both lists.
[[nodiscard]] transport_list intersection(const transport_list& one, const transport_list& other);

// The transports that the command line allows.
struct restriction {
    std::string reason;  // the options, "-P intra"; empty: no restriction
    transport_list allowed;
};
[[nodiscard]] restriction restriction_of(const options& opts);

}  // namespace tools::info
