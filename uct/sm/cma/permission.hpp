// May processes here copy each other's memory?
#pragma once

#include <string>

namespace uct::cma {

// What /proc/sys/kernel/yama/ptrace_scope means for a process. Pure.
enum class yama_scope : int { classic = 0, restricted = 1, admin_only = 2, nobody = 3 };
[[nodiscard]] std::string why_yama_forbids(yama_scope scope, bool may_trace, bool allow_peers);

// Empty when single copy can work here, else the reason in words. Tries the call on this process
// and reads the security settings; what a certain peer allows shows only at run time. Any thread.
[[nodiscard]] std::string why_not_here(bool allow_peers);

// Lets other processes of the user in where ptrace_scope is 1.
void allow_peers() noexcept;

}  // namespace uct::cma
