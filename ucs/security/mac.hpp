// Tags that prove that data comes from someone who knows a key.
#pragma once

#include <initializer_list>

#include "ucs/security/key.hpp"

namespace ucs::security {

inline constexpr std::size_t tag_size = 16;
using tag = std::array<std::byte, tag_size>;

// The tag of these fields under the key: keyed BLAKE2b over each field with its length, so that
// fields which are divided differently have different tags.
[[nodiscard]] tag authenticate(const key& with, std::initializer_list<bytes> fields) noexcept;

// Takes the same time whether and wherever the tags differ.
[[nodiscard]] bool same_tag(std::span<const std::byte, tag_size> left,
                            std::span<const std::byte, tag_size> right) noexcept;

}  // namespace ucs::security
