#include "uct/ib/base/memory/registration_price.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "ucs/memory/mapped.hpp"
#include "ucs/time/clock.hpp"

namespace uct::ib {
namespace {

constexpr std::size_t short_piece = 4096;
constexpr std::size_t long_piece = std::size_t{1} << 20U;
constexpr int repeats = 3;
// Usual values of devices in present servers.
constexpr registration_price usual{10e-6, 50e-12};

// Takes the minimum of several measurements, because anything above it is other work of the host.
std::optional<double> seconds_for(ibv_pd& with, std::span<std::byte> pages,
                                  unsigned access) noexcept {
    std::optional<double> least;
    for (int i = 0; i < repeats; ++i) {
        const ucs::time::nanoseconds begin = ucs::time::now();
        region_handle made(
            ibv_reg_mr(&with, pages.data(), pages.size(), access | IBV_ACCESS_LOCAL_WRITE));
        if (made == nullptr) return std::nullopt;
        made.reset();
        const double took = ucs::time::to_seconds(ucs::time::now() - begin);
        least = std::min(took, least.value_or(took));
    }
    return least;
}

}  // namespace

registration_price registration_price::measured(ibv_pd& with, unsigned access) noexcept {
    const auto pages = ucs::memory::mapped::anonymous(long_piece);
    if (!pages) return usual;
    std::memset(pages->bytes().data(), 1, long_piece);  // pages of programs are populated, too
    const auto brief = seconds_for(with, pages->bytes().first(short_piece), access);
    const auto lengthy = seconds_for(with, pages->bytes(), access);
    if (!brief || !lengthy) return usual;
    return between(short_piece, *brief, long_piece, *lengthy);
}

registration_price registration_price::between(std::size_t short_bytes, double short_seconds,
                                               std::size_t long_bytes,
                                               double long_seconds) noexcept {
    const double more = std::max(0.0, long_seconds - short_seconds);
    const double per_byte = more / static_cast<double>(long_bytes - short_bytes);
    const double start = short_seconds - per_byte * static_cast<double>(short_bytes);
    return {std::max(0.0, start), per_byte};
}

std::string registration_price::text() const {
    return fmt::format("{:.1f} us and {:.1f} us per MB", start_ * 1e6,
                       per_byte_ * static_cast<double>(long_piece) * 1e6);
}

}  // namespace uct::ib
