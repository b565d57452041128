// Loadable parts of the library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ucs::sys {

// What a module's one exported symbol, `hawser_module`, returns. The descriptor of a kind of
// modules begins with this. Module and library come from one build, so other values than ours are
// a stranger's or an old file's, and are refused.
struct module_head {
    std::uint32_t size;     // of the whole descriptor
    std::uint32_t version;  // of its kind
};
using module_entry = const module_head* (*)();
inline constexpr const char* module_symbol = "hawser_module";

// The descriptor of the module NAME.so in `folder`, or in hawser/ beside this library where that is
// empty. Only a file that other users cannot have written is loaded. Once loaded a module stays.
// nullptr: `why_not` says why.
[[nodiscard]] const module_head* load_module(std::string_view name, std::string_view folder,
                                             const module_head& expected, std::string& why_not);

}  // namespace ucs::sys
