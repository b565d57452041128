// What ranks must say alike before an operation, where they are compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/type/status.h"

namespace ucg {

// Of one rank's call. From others, so it may be anything. Value type.
struct signature {
    static constexpr std::uint32_t program = 1000;  // of `what`, and above: no collective

    std::uint32_t what, flags, type, op, root, element;
    std::uint64_t count;      // where that is the same on all
    std::uint64_t form;       // of a program
    std::uint64_t algorithm;  // a hash of its name
    std::int64_t refused;     // UCS_OK, or why this rank's arguments were: nothing else counts then

    bool operator==(const signature&) const = default;
    // Whether one with these can run together with the other. A program whose arguments a rank
    // refused has no form: it runs, and ends with that rank's error everywhere.
    [[nodiscard]] bool fits(const signature& other) const noexcept {
        signature same = other;
        if (what >= program && (form == 0 || other.form == 0)) same.form = form;
        return *this == same;
    }
    // UCS_OK, or a failure.
    [[nodiscard]] ucs_status_t refusal() const noexcept {
        if (refused == UCS_OK) return UCS_OK;
        const bool known = refused < 0 && refused > UCS_ERR_LAST;
        return known ? static_cast<ucs_status_t>(refused) : UCS_ERR_IO_ERROR;
    }
};

// "allreduce of 8 fp32 with sum, by ring". Collectives that do not fit have different texts.
// std::bad_alloc.
[[nodiscard]] std::string text_of(const signature& of);

// Elements that a rank gives to each rank and takes from each as it sees it, where that is more
// than one number. Empty: it is not.
struct shares {
    std::vector<std::uint64_t> given, taken;
};

}  // namespace ucg
