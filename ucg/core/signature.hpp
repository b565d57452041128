// The part of a call that must be the same on all ranks, for their comparison.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/type/status.h"

namespace ucg {

// Part of the signature that ranks compare, so the numbers must not change.
enum class program_kind : std::uint32_t {
    moe_notify,
    moe_notify_dispatch,
    moe_dispatch,
    moe_combine,
    moe_low_latency_dispatch,
    moe_low_latency_combine,
};

// Accepts any number, because it may come from another rank.
[[nodiscard]] constexpr const char* name(program_kind kind) noexcept {
    switch (kind) {
        case program_kind::moe_notify:
            return "moe_notify";
        case program_kind::moe_notify_dispatch:
            return "moe_notify_dispatch";
        case program_kind::moe_dispatch:
            return "moe_dispatch";
        case program_kind::moe_combine:
            return "moe_combine";
        case program_kind::moe_low_latency_dispatch:
            return "moe_low_latency_dispatch";
        case program_kind::moe_low_latency_combine:
            return "moe_low_latency_combine";
    }
    return "something that this version of the library does not know";
}

// The call of one rank. It comes from another rank, so it may have any content. Value type.
struct signature {
    static constexpr std::uint32_t program = 1000;  // `operation` of a program: this plus its kind

    std::uint32_t operation, flags, type, op, root, element;
    std::uint64_t count;      // if it is the same on all ranks
    std::uint64_t form;       // of a program
    std::uint64_t algorithm;  // a hash of its name
    std::int64_t
        refused;  // UCS_OK, or why the rank's arguments were refused: then nothing else is valid

    bool operator==(const signature&) const = default;
    // Returns whether the two calls can run together. A program whose arguments a rank refused has
    // no form: it runs, and ends with that rank's error on every rank.
    [[nodiscard]] bool fits(const signature& other) const noexcept {
        signature same = other;
        if (operation >= program && (form == 0 || other.form == 0)) same.form = form;
        return *this == same;
    }
    // Returns UCS_OK or an error.
    [[nodiscard]] ucs_status_t refusal() const noexcept {
        if (refused == UCS_OK) return UCS_OK;
        const bool is_valid = refused < 0 && refused > UCS_ERR_LAST;
        return is_valid ? static_cast<ucs_status_t>(refused) : UCS_ERR_IO_ERROR;
    }
};

// For example "allreduce of 8 fp32 with sum, by ring". Calls that do not fit have different texts.
// Throws std::bad_alloc.
[[nodiscard]] std::string text_of(const signature& call);

// Counts of elements that a rank expects to give to each rank and to take from each, if they may
// differ from rank to rank; otherwise empty.
struct shares {
    std::vector<std::uint64_t> given, taken;
};

}  // namespace ucg
