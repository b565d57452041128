#include "ucs/log/format.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>

#include "ucs/log/level.hpp"
#include "ucs/log/printable.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/time/clock.hpp"

namespace ucs::log {

void format_lines(fmt::memory_buffer& into, const component& source, level severity,
                  std::string_view text) {
    const time::nanoseconds wall = time::since_epoch();
    const auto thread = static_cast<long>(::syscall(SYS_gettid));
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    do {
        const std::size_t end = text.find('\n');
        fmt::format_to(std::back_inserter(into), "[{}.{:06}] [{}:{}:{}] {:<12} {:<5} ",
                       wall / 1'000'000'000, wall / 1000 % 1'000'000, sys::host_name(), ::getpid(),
                       thread, source.name(), level_name(severity));
        append_printable(into, text.substr(0, end));
        into.push_back('\n');
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    } while (!text.empty());
}

}  // namespace ucs::log
