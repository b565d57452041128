#include "uct/sm/cma/permission.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "ucs/sys/text_file.hpp"
#include "uct/base/log.hpp"

namespace uct::cma {
namespace {

bool has_ptrace_capability() noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    if (::syscall(SYS_capget, &header, data) != 0) return false;
    return (data[0].effective & (1U << CAP_SYS_PTRACE)) != 0;
}

// A filter (of a container, for example) refuses the call even for the own process.
int try_on_itself() noexcept {
    std::uint64_t source = 0x5a5a5a5a5a5a5a5aU;
    std::uint64_t target = 0;
    iovec local{&target, sizeof target};
    iovec remote{&source, sizeof source};
    const ssize_t got = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
    if (got < 0) return errno;
    return got == sizeof target && target == source ? 0 : EIO;
}

}  // namespace

std::string why_yama_forbids(yama_scope scope, bool may_trace, bool allow_peers) {
    switch (scope) {
        case yama_scope::classic:
            return {};
        case yama_scope::restricted:
            if (may_trace || allow_peers) return {};
            return "/proc/sys/kernel/yama/ptrace_scope is 1, so only a parent may copy; set it to "
                   "0, or UCX_CMA_ALLOW_PEERS=y";
        case yama_scope::admin_only:
            if (may_trace) return {};
            return "/proc/sys/kernel/yama/ptrace_scope is 2, so only a process with "
                   "CAP_SYS_PTRACE may copy";
        case yama_scope::nobody:
            return "/proc/sys/kernel/yama/ptrace_scope is 3, so nobody may copy";
    }
    return fmt::format("/proc/sys/kernel/yama/ptrace_scope has the unknown value {}",
                       static_cast<int>(scope));
}

std::string why_not_here(bool allow_peers) {
    if (const int error = try_on_itself(); error != 0) {
        return fmt::format("process_vm_readv is refused here: {}", std::strerror(error));
    }
    const auto scope = ucs::sys::read_number("/proc/sys/kernel/yama/ptrace_scope");
    if (!scope) return {};  // a kernel without Yama
    return why_yama_forbids(static_cast<yama_scope>(*scope), has_ptrace_capability(), allow_peers);
}

void allow_peers() noexcept {
    // EINVAL: a kernel without Yama, which needs no permission.
    if (::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) != 0 && errno != EINVAL) {
        ucs::log::warn(cma_log, "prctl(PR_SET_PTRACER, ANY) failed: {}", std::strerror(errno));
    }
}

}  // namespace uct::cma
