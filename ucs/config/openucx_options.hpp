// The options of OpenUCX: which of them this library has, and why each of the others has no effect.
#pragma once

#include <span>
#include <string_view>

namespace ucs::config {

// Why options have no effect here.
struct no_effect {
    std::string_view reason;  // a clause that follows "because"
    // True if the option requests a service whose result the user expects, such as a file. Other
    // options tune a mechanism that does not exist here.
    bool is_missed;
};

// One option of OpenUCX's tables.
struct openucx_option {
    std::string_view name;           // without UCX_
    std::string_view first_version;  // "1.13"; "-" if only special builds list the option
    std::string_view last_version;
    const no_effect* effect;  // null: this library has the option
};

// All options that OpenUCX 1.13 to 1.23 list, sorted by name.
[[nodiscard]] std::span<const openucx_option> openucx_options() noexcept;

// Returns why an option of OpenUCX has no effect, by its name or by that of its family
// ("RC_FENCE" stands for "RC_VERBS_FENCE" and "RC_MLX5_FENCE"). Null for options of this library
// and for names that no OpenUCX has.
[[nodiscard]] const no_effect* find_no_effect(std::string_view name);

}  // namespace ucs::config
