// Choice of the protocol for each message size.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Maps message sizes to protocols for every class of sends. A class is computed at its first use,
// from the predictions of all protocols. There is one table per distinct pair of lanes ("endpoint
// configuration"), shared by all endpoints with these lanes. Owner context.
class protocol_table {
public:
    explicit protocol_table(const lane_set& lanes);

    // Throws std::bad_alloc at the first use of a class.
    [[nodiscard]] const protocol& select(send_class send, std::size_t length) const {
        const ranges& list = ranges_for(send);
        const range* entry = list.data();
        while (length > entry->last)
            ++entry;  // the last range ends at the largest size
        return *entry->chosen;
    }

    // Longest contiguous message that am_short carries as an eager message, for every kind that
    // need not use rendezvous; -1 if there is none.
    [[nodiscard]] std::ptrdiff_t max_short() const noexcept { return max_short_; }

    [[nodiscard]] double predict(send_class send, std::size_t length) const;

    // Describes the table in text, for the sends of a program with these features: ranges, reasons,
    // and the predicted cost of the other protocols.
    [[nodiscard]] std::string explain(std::uint64_t features) const;

private:
    struct range {
        std::size_t last;  // longest message of this range
        const protocol* chosen;
    };
    using ranges = std::vector<range>;

    [[nodiscard]] const ranges& ranges_for(send_class send) const {
        const std::size_t form = (send.contiguous ? 1U : 0U) + (send.on_device ? 2U : 0U);
        ranges& list = classes_[static_cast<std::size_t>(send.kind)][form];
        if (list.empty()) [[unlikely]]
            list = build(send);
        return list;
    }
    [[nodiscard]] estimate probe_row(const protocol& row, send_class send,
                                     std::size_t length) const;
    [[nodiscard]] const protocol* best(send_class send, std::size_t length) const;
    [[nodiscard]] ranges build(send_class send) const;
    void explain_class(send_class send, std::string& text) const;

    lane_set lanes_;
    mutable std::array<std::array<ranges, 4>, message_kind_count> classes_;
    std::ptrdiff_t max_short_ = -1;
};

// Rows of the table.
extern const protocol eager_short;    // ucp/eager/short.cpp
extern const protocol eager_bcopy;    // ucp/eager/bcopy.cpp
extern const protocol eager_multi;    // ucp/eager/multi.cpp
extern const protocol rndv_in_place;  // ucp/rndv/protocols.cpp
extern const protocol rndv_stream;    // ucp/rndv/protocols.cpp

// Returns all protocols, cheapest set-up first.
[[nodiscard]] std::span<const protocol* const> all_protocols() noexcept;

}  // namespace ucp
