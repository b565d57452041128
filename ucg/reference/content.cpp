#include "ucg/reference/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace ucg::reference {
namespace {

// Fills an element with arbitrary bits.
void scramble(void* to, std::size_t bytes, std::uint64_t name) noexcept {
    for (std::size_t i = 0; i < bytes; i += 8) {
        const std::uint64_t word = mix(name, i);
        std::memcpy(static_cast<std::byte*>(to) + i, &word, std::min<std::size_t>(8, bytes - i));
    }
}

}  // namespace

void content::write_words(void* to, std::uint64_t index, std::uint64_t round,
                          rank_t rank) const noexcept {
    scramble(to, like_.bytes, mix(mix(round, index), rank));
}

void content::write_element(void* to, const block& part, std::uint64_t index,
                            std::uint64_t round) const noexcept {
    const std::uint64_t pair = std::uint64_t{part.source} << 32U | part.target;
    if (!layout_.reduces) return scramble(to, like_.bytes, mix(mix(round, pair), index));
    if (like_.op == UCG_OP_USER) return write_words(to, index, round, rank_);
    store(like_.type, to, numbers_.given(index, round, rank_));
}

std::optional<std::string> content::error_of(const void* got, const block& part,
                                             std::uint64_t index, std::uint64_t round) const {
    if (layout_.reduces && like_.op != UCG_OP_USER) {
        const number is = load(like_.type, got);
        const number wanted = numbers_.reduced(index, round, layout_.reduced);
        if (numbers_.matches(is, wanted)) return std::nullopt;
        return fmt::format("is {} ({}) and should be {} ({})", is.value, is.second, wanted.value,
                           wanted.second);
    }
    std::array<std::byte, most_bytes> one{}, other{};
    std::byte* wanted = one.data();
    if (layout_.reduces) {
        std::byte* next = other.data();
        write_words(wanted, index, round, 0);
        for (rank_t rank = 1; rank < layout_.reduced; ++rank) {
            write_words(next, index, round, rank);
            like_.user.combine(wanted, next, 1);
            std::swap(wanted, next);
        }
    } else {
        write_element(wanted, part, index, round);
    }
    if (std::memcmp(got, wanted, like_.bytes) == 0) return std::nullopt;
    if (layout_.reduces) return fmt::format("is not the reduction of {} ranks", layout_.reduced);
    return fmt::format("is not what rank {} sent as its number {}", part.source, index);
}

void content::write(void* source, void* target, std::uint64_t round) const {
    auto* const into = static_cast<std::byte*>(layout_.input_in_target ? target : source);
    for (const block& each : layout_.given)
        for (std::uint64_t i = 0; i < each.count; ++i)
            write_element(into + (each.offset + i) * like_.bytes, each, each.first + i, round);
}

std::optional<std::string> content::find_error(const void* target, std::uint64_t round) const {
    for (const block& each : layout_.got) {
        for (std::uint64_t i = 0; i < each.count; ++i) {
            const auto* const element =
                static_cast<const std::byte*>(target) + (each.offset + i) * like_.bytes;
            if (const auto error = error_of(element, each, each.first + i, round))
                return fmt::format("element {} {}", each.offset + i, *error);
        }
    }
    return std::nullopt;
}

}  // namespace ucg::reference
