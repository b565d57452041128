#include "ucs/log/throttle.hpp"

#include "ucs/log/repeats.hpp"

namespace ucs::log {

static_assert(throttle::first_lines == first_lines);
bool throttle::due() noexcept {
    const std::uint64_t now = count() + 1;  // one writer: no read-modify-write
    count_.store(now, std::memory_order_relaxed);
    return is_written(now);
}

// Do not use vwrite(): its counts are per process, and would mix the lines of all workers.
void throttle::write(const component& c, level severity, fmt::string_view format,
                     fmt::format_args args) const noexcept {
    write_numbered(c, severity, format, args, count());
}

}  // namespace ucs::log
