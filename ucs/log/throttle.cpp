#include "ucs/log/throttle.hpp"

#include <fmt/format.h>

#include <string>

namespace ucs::log {
namespace {

bool is_power_of_ten(std::uint64_t number) noexcept {
    while (number % 10 == 0)
        number /= 10;
    return number == 1;
}

}  // namespace

bool throttle::due() noexcept {
    const std::uint64_t now = count() + 1;  // one writer: no read-modify-write
    count_.store(now, std::memory_order_relaxed);
    return now <= first_lines || is_power_of_ten(now);
}

void throttle::write(const component& c, level severity, fmt::string_view format,
                     fmt::format_args args) const noexcept {
    const std::uint64_t now = count();
    if (now < first_lines) {
        vwrite(c, severity, format, args);
        return;
    }
    try {
        std::string text = fmt::vformat(format, args);
        text += fmt::format(" ({} of the kind so far, only powers of ten are reported)", now);
        log::write(c, severity, text);
    } catch (...) {
        vwrite(c, severity, format, args);
    }
}

}  // namespace ucs::log
