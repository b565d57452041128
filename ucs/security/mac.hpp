// Message authentication codes: a tag proves that its sender knows a key.
#pragma once

#include <initializer_list>

#include "ucs/security/key.hpp"

namespace ucs::security {

inline constexpr std::size_t tag_size = 16;
using tag = std::array<std::byte, tag_size>;

// Returns the tag of the fields under the key: keyed BLAKE2b over each field and its length, so
// that a different division into fields gives a different tag.
[[nodiscard]] tag authenticate(const key& secret, std::initializer_list<bytes> fields) noexcept;

// Takes the same time whether and wherever the tags differ.
[[nodiscard]] bool same_tag(std::span<const std::byte, tag_size> left,
                            std::span<const std::byte, tag_size> right) noexcept;

}  // namespace ucs::security
