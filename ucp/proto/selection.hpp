// Which protocol serves which message size, and why.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Message size -> protocol, for every class of sends, computed from the predictions of all
// protocols. One per distinct pair of lanes ("endpoint configuration"), shared by all endpoints
// that have it. Immutable.
class protocol_table {
public:
    explicit protocol_table(const lane_set& lanes);

    [[nodiscard]] const protocol& select(send_class what, std::size_t length) const noexcept {
        const ranges& list = classes_[index(what)];
        const range* at = list.data();
        while (length > at->last)
            ++at;  // the last range ends at the largest size
        return *at->chosen;
    }

    // Longest message that am_short carries as an eager message, or -1.
    [[nodiscard]] std::ptrdiff_t max_short() const noexcept { return max_short_; }

    [[nodiscard]] double predict(send_class what, std::size_t length) const;

    // The table in words: ranges, reasons, and what the others would have cost.
    [[nodiscard]] std::string explain() const;

private:
    struct range {
        std::size_t last;  // longest message of this range
        const protocol* chosen;
    };
    using ranges = std::vector<range>;

    static std::size_t index(send_class what) noexcept {
        return (what.sync ? 2U : 0U) + (what.contiguous ? 1U : 0U);
    }
    [[nodiscard]] const protocol* best(send_class what, std::size_t length) const;
    [[nodiscard]] ranges build(send_class what) const;
    void explain_class(send_class what, const char* title, std::string& text) const;

    lane_set lanes_;
    std::array<ranges, 4> classes_;
    std::ptrdiff_t max_short_ = -1;
};

// Every protocol for tagged messages, cheapest set-up first.
[[nodiscard]] std::span<const protocol* const> all_protocols() noexcept;

}  // namespace ucp
