// Options of the UCX family that mean something elsewhere, but not in this build.
#pragma once

#include <string_view>

namespace ucs::config {

// True for names (without UCX_) that programs and site files set for transports and features that
// are not here. They are accepted and have no effect; a spelling error among them goes unnoticed,
// which is less bad than warning of every site's InfiniBand settings.
[[nodiscard]] bool is_foreign_name(std::string_view name) noexcept;

}  // namespace ucs::config
