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

// Fills the memory with copies of one element. Each round doubles the part that is filled, so few
// copies are short.
void fill(char* to, std::uint64_t count, const void* one, std::size_t element) noexcept {
    if (count == 0) return;
    std::memcpy(to, one, element);
    constexpr std::uint64_t chunk = 4096;  // bytes; later copies read from the cache
    const std::uint64_t all = count * element;
    for (std::uint64_t done = element; done < all;) {
        const std::uint64_t now = std::min({done, all - done, chunk});
        std::memcpy(to + done, to, now);
        done += now;
    }
}

// Makes an element of a collective that moves data: arbitrary bits that differ by rank pair, index
// and round.
void scramble(element_bytes& to, const block& part, std::uint64_t index,
              std::uint64_t round) noexcept {
    const std::uint64_t pair = (std::uint64_t{part.source} << 32U) + part.target;
    const std::uint64_t words[] = {mix(mix(round, pair), index), mix(mix(index, pair), round)};
    static_assert(sizeof words == largest_element);
    std::memcpy(to.data(), words, sizeof words);
}

}  // namespace

void content::write_uniform(void* source, void* target, std::uint64_t round) const noexcept {
    void* const into = layout_.input_in_target ? target : source;
    constexpr std::uint64_t values = 64;  // few enough for 8 bits
    element_bytes one{};
    values_.store(one.data(), {static_cast<double>((round + rank_) % values), 0});
    for (const block& each : layout_.given)
        fill(place(into, each.offset, values_.element()), each.count, one.data(),
             values_.element());
}

void content::write_element(void* to, const block& part, std::uint64_t index,
                            std::uint64_t round) const noexcept {
    if (layout_.reduces) return values_.store(to, values_.given(index, round, rank_));
    element_bytes bits{};
    scramble(bits, part, index, round);
    std::memcpy(to, bits.data(), values_.element());
}

bool content::is_correct(const void* got, const block& part, std::uint64_t index,
                         std::uint64_t round) const noexcept {
    if (layout_.reduces)
        return values_.matches(values_.load(got), values_.reduced(index, round, layout_.reduced));
    element_bytes bits{};
    scramble(bits, part, index, round);
    return std::memcmp(got, bits.data(), values_.element()) == 0;
}

void content::write(void* source, void* target, std::uint64_t round) const noexcept {
    void* const into = layout_.input_in_target ? target : source;
    for (const block& each : layout_.given)
        for (std::uint64_t i = 0; i < each.count; ++i)
            write_element(place(into, each.offset + i, values_.element()), each, each.first + i,
                          round);
}

std::optional<std::string> content::find_error(const void* target, std::uint64_t round) const {
    for (const block& each : layout_.got) {
        for (std::uint64_t i = 0; i < each.count; ++i) {
            const char* const element =
                static_cast<const char*>(target) + (each.offset + i) * values_.element();
            if (is_correct(element, each, each.first + i, round)) continue;
            if (!layout_.reduces) {
                return fmt::format("element {} is not what rank {} sent as its number {}",
                                   each.offset + i, each.source, each.first + i);
            }
            const number got = values_.load(element);
            const number want = values_.reduced(each.first + i, round, layout_.reduced);
            return fmt::format("element {} is {} ({}) and should be {} ({})", each.offset + i,
                               got.value, got.second, want.value, want.second);
        }
    }
    return std::nullopt;
}

}  // namespace tools::ucg_perf
