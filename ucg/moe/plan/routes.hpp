// The routes that one source sent: header, counts and one record for each token.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "ucg/moe/plan/choices.hpp"
#include "ucg/moe/wire.hpp"
#include "ucs/type/status.h"

namespace ucg::moe {

// A view of one received header with its counts, and of its records. The accessors of records are
// valid after check_records() succeeded. Does not own the memory.
class routes {
public:
    routes() = default;
    routes(const std::uint32_t* header, const header_form& form) noexcept
        : form_(form), counts_(header + sizeof(route_header) / 4) {
        std::memcpy(&header_, header, sizeof header_);
    }

    // UCS_ERR_INVALID_PARAM: the source uses other experts, channels, k, masks or all_counts than
    // this rank. UCS_ERR_IO_ERROR: no correct source sends such a header. Logs the reason.
    [[nodiscard]] ucs_status_t check_header(rank_t source,
                                            std::uint64_t fingerprint) const noexcept;
    // Checks the total() records and keeps the pointer to them. Each record must have an expert on
    // a rank for which `wanted(rank)` is true.
    template<class Wanted>
    [[nodiscard]] ucs_status_t check_records(const team& group, const std::uint32_t* records,
                                             Wanted wanted) noexcept;

    [[nodiscard]] rank_t source() const noexcept { return header_.source; }
    [[nodiscard]] bool relayed() const noexcept { return header_.relayed != 0; }
    [[nodiscard]] const route_header& header() const noexcept { return header_; }
    [[nodiscard]] std::uint32_t count(std::uint32_t channel) const noexcept {
        return counts_[channel];
    }
    // Number of tokens in all channels.
    [[nodiscard]] std::uint64_t total() const noexcept {
        std::uint64_t sum = 0;
        for (std::uint32_t c = 0; c < form_.channels; ++c)
            sum += counts_[c];
        return sum;
    }
    // Number of tokens to each rank; empty if settings::all_counts is not set.
    [[nodiscard]] std::span<const std::uint32_t> targets() const noexcept {
        return {counts_ + form_.channels, form_.targets};
    }
    [[nodiscard]] std::size_t records_length() const noexcept {  // in numbers of 4 bytes
        return static_cast<std::size_t>(total()) * (form_.k + 1);
    }
    [[nodiscard]] const std::uint32_t* record(std::uint64_t i) const noexcept {
        return records_ + i * (form_.k + 1);
    }
    [[nodiscard]] std::uint32_t token(std::uint64_t i) const noexcept { return *record(i); }
    [[nodiscard]] std::span<const expert_t> experts(std::uint64_t i) const noexcept {
        return {reinterpret_cast<const expert_t*>(record(i) + 1), form_.k};
    }

private:
    header_form form_;
    const std::uint32_t* counts_ = nullptr;
    const std::uint32_t* records_ = nullptr;
    route_header header_{};
};

template<class Wanted>
ucs_status_t routes::check_records(const team& group, const std::uint32_t* records,
                                   Wanted wanted) noexcept {
    records_ = records;
    const std::uint64_t all = total();
    for (std::uint64_t i = 0; i < all; ++i) {
        bool fits = token(i) < header_.tokens && (i == 0 || token(i - 1) < token(i));
        bool has_target = false;
        for (const expert_t expert : experts(i)) {
            if (expert == choices::none) continue;
            fits = fits && expert >= 0 && static_cast<std::uint32_t>(expert) < group.experts() &&
                   group.is_alive(group.rank_of(expert));
            if (!fits) break;
            has_target = has_target || wanted(group.rank_of(expert));
        }
        if (fits && has_target) continue;
        return refuse_from(source(), "an invalid token");
    }
    return UCS_OK;
}

}  // namespace ucg::moe
