// Checks of parsers of untrusted bytes.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace test {

// Parses a copy in memory of exactly its size, so that a sanitizer detects a read behind the end.
template<class Parse>
[[nodiscard]] auto parse_exactly(std::span<const std::byte> from, const Parse& parse) {
    const std::unique_ptr<std::byte[]> exact(new std::byte[from.size()]);
    std::copy(from.begin(), from.end(), exact.get());
    return parse(std::span<const std::byte>(exact.get(), from.size()));
}

// Checks that the parser accepts these bytes, and neither fewer nor more.
template<class Parse>
void check_only_whole(std::span<const std::byte> good, const Parse& parse) {
    std::vector<std::byte> longer(good.begin(), good.end());
    longer.push_back(std::byte{0});
    for (std::size_t length = 0; length <= longer.size(); ++length) {
        INFO("length " << length);
        CHECK(static_cast<bool>(parse_exactly(std::span(longer).first(length), parse)) ==
              (length == good.size()));
    }
}

// Returns whether the parser refuses these bytes after one of them was changed.
template<class Parse>
[[nodiscard]] bool refuses(std::span<const std::byte> good, const Parse& parse,
                           std::size_t position, unsigned value, std::size_t count = 1) {
    std::vector<std::byte> wrong(good.begin(), good.end());
    std::fill_n(wrong.begin() + static_cast<std::ptrdiff_t>(position), count,
                static_cast<std::byte>(value));
    return !parse_exactly(wrong, parse);
}

}  // namespace test
