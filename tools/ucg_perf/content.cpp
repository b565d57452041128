#include "tools/ucg_perf/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tools::ucg_perf {
namespace {

constexpr std::size_t largest_element = 16;
using element_bytes = std::array<unsigned char, largest_element>;

char* place(void* memory, std::uint64_t index, std::size_t element) noexcept {
    return static_cast<char*>(memory) + index * element;
}

// Copies of one element; what is there already is doubled, so few copies are short.
void fill(char* to, std::uint64_t count, const void* one, std::size_t element) noexcept {
    if (count == 0) return;
    std::memcpy(to, one, element);
    constexpr std::uint64_t chunk = 4096;  // of bytes; later copies read it from the cache
    const std::uint64_t all = count * element;
    for (std::uint64_t done = element; done < all;) {
        const std::uint64_t now = std::min({done, all - done, chunk});
        std::memcpy(to + done, to, now);
        done += now;
    }
}

// Of data that are moved: any bits.
void scramble(element_bytes& to, const block& of, std::uint64_t index,
              std::uint64_t round) noexcept {
    const std::uint64_t pair = (std::uint64_t{of.source} << 32U) + of.target;
    const std::uint64_t words[] = {mixed(mixed(round, pair), index),
                                   mixed(mixed(index, pair), round)};
    static_assert(sizeof words == largest_element);
    std::memcpy(to.data(), words, sizeof words);
}

}  // namespace

void content::write_anew(void* source, void* target, std::uint64_t round) const noexcept {
    void* const into = of_.given_in_target ? target : source;
    constexpr std::uint64_t values = 64;  // few enough for 8 bits
    element_bytes one{};
    by_.store(one.data(), {static_cast<double>((round + rank_) % values), 0});
    for (const block& each : of_.given)
        fill(place(into, each.at, by_.element()), each.count, one.data(), by_.element());
}

void content::make(void* to, const block& of, std::uint64_t index,
                   std::uint64_t round) const noexcept {
    if (of_.reduces) return by_.store(to, by_.given(index, round, rank_));
    element_bytes bits{};
    scramble(bits, of, index, round);
    std::memcpy(to, bits.data(), by_.element());
}

bool content::right(const void* got, const block& of, std::uint64_t index,
                    std::uint64_t round) const noexcept {
    if (of_.reduces) return by_.agrees(by_.load(got), by_.reduced(index, round, of_.reduced));
    element_bytes bits{};
    scramble(bits, of, index, round);
    return std::memcmp(got, bits.data(), by_.element()) == 0;
}

void content::write(void* source, void* target, std::uint64_t round) const noexcept {
    void* const into = of_.given_in_target ? target : source;
    for (const block& each : of_.given)
        for (std::uint64_t i = 0; i < each.count; ++i)
            make(place(into, each.at + i, by_.element()), each, each.first + i, round);
}

std::optional<std::string> content::wrong(const void* target, std::uint64_t round) const {
    for (const block& each : of_.got) {
        for (std::uint64_t i = 0; i < each.count; ++i) {
            const char* const at = static_cast<const char*>(target) + (each.at + i) * by_.element();
            if (right(at, each, each.first + i, round)) continue;
            if (!of_.reduces) {
                return fmt::format("element {} is not what rank {} sent as its number {}",
                                   each.at + i, each.source, each.first + i);
            }
            const number got = by_.load(at);
            const number want = by_.reduced(each.first + i, round, of_.reduced);
            return fmt::format("element {} is {} ({}) and should be {} ({})", each.at + i,
                               got.value, got.second, want.value, want.second);
        }
    }
    return std::nullopt;
}

}  // namespace tools::ucg_perf
