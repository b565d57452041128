// Loads modules of the library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ucs::sys {

// The head of a module's descriptor, which its only exported symbol, `hawser_module`, returns.
// Module and library come from the same build, so other values mean a foreign or old file, which is
// refused.
struct module_head {
    std::uint32_t size;     // of the whole descriptor
    std::uint32_t version;  // of its kind
};
using module_entry = const module_head* (*)();
inline constexpr const char* module_symbol = "hawser_module";

// Loads the module NAME.so from `folder`, or from hawser/ beside this library if `folder` is empty,
// and returns its descriptor. Refuses a file that other users could have written. A loaded module
// is never unloaded. Returns nullptr on failure, and sets `reason`.
[[nodiscard]] const module_head* load_module(std::string_view name, std::string_view folder,
                                             const module_head& expected, std::string& reason);

}  // namespace ucs::sys
