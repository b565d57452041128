// Which protocol serves which message size, and why.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Message size -> protocol, for every class of sends, computed from the predictions of all
// protocols when the class is first asked for. One per distinct pair of lanes ("endpoint
// configuration"), shared by all endpoints that have it. Owner context.
class protocol_table {
public:
    explicit protocol_table(const lane_set& lanes);

    // Throws std::bad_alloc, when a class is used for the first time.
    [[nodiscard]] const protocol& select(send_class what, std::size_t length) const {
        const ranges& list = of_class(what);
        const range* at = list.data();
        while (length > at->last)
            ++at;  // the last range ends at the largest size
        return *at->chosen;
    }

    // Longest contiguous message that am_short carries as an eager message of any kind that need
    // not be announced, or -1.
    [[nodiscard]] std::ptrdiff_t max_short() const noexcept { return max_short_; }

    [[nodiscard]] double predict(send_class what, std::size_t length) const;

    // The table in words, for what a program with these features sends: ranges, reasons, and what
    // the others would have cost.
    [[nodiscard]] std::string explain(std::uint64_t features) const;

private:
    struct range {
        std::size_t last;  // longest message of this range
        const protocol* chosen;
    };
    using ranges = std::vector<range>;

    [[nodiscard]] const ranges& of_class(send_class what) const {
        ranges& list = classes_[static_cast<std::size_t>(what.kind)][what.contiguous ? 1 : 0];
        if (list.empty()) [[unlikely]]
            list = build(what);
        return list;
    }
    [[nodiscard]] estimate ask(const protocol& row, send_class what, std::size_t length) const;
    [[nodiscard]] const protocol* best(send_class what, std::size_t length) const;
    [[nodiscard]] ranges build(send_class what) const;
    void explain_class(send_class what, std::string& text) const;

    lane_set lanes_;
    mutable std::array<std::array<ranges, 2>, message_kind_count> classes_;
    std::ptrdiff_t max_short_ = -1;
};

}  // namespace ucp
