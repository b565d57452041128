// Tells whether processes of this host may copy each other's memory.
#pragma once

#include <string>

namespace uct::cma {

// The consequence of /proc/sys/kernel/yama/ptrace_scope for a process. Returns a reason against
// single copies, or an empty text. Pure.
enum class yama_scope : int { classic = 0, restricted = 1, admin_only = 2, nobody = 3 };
[[nodiscard]] std::string why_yama_forbids(yama_scope scope, bool may_trace, bool allow_peers);

// Returns an empty text if single copies can work here, otherwise the reason. Tries the call on
// this process and reads the security settings; the permission of a particular peer shows only at
// run time. Any thread.
[[nodiscard]] std::string why_not_here(bool allow_peers);

// Gives other processes of the user access if ptrace_scope is 1.
void allow_peers() noexcept;

}  // namespace uct::cma
