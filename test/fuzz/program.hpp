// The input of a target: in pieces, as an exact copy, or as a program whose actions it reads byte
// by byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace fuzz {

inline void require(bool holds) {
    if (!holds) std::abort();
}

// Moves the next bytes of the input, at most `piece`, into a buffer. Returns their number.
inline std::size_t fill(std::span<std::byte> space, std::span<const std::byte>& input,
                        std::size_t piece) {
    require(!space.empty());
    const std::size_t count = std::min({piece, space.size(), input.size()});
    std::copy_n(input.begin(), count, space.begin());
    input = input.subspan(count);
    return count;
}

// A copy of the input in memory of exactly its size, so that a sanitizer detects each read beyond
// it.
class exact_copy {
public:
    explicit exact_copy(std::span<const std::byte> from)
        : copy_(new std::byte[from.size()]), size_(from.size()) {
        std::copy(from.begin(), from.end(), copy_.get());
    }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {copy_.get(), size_}; }

private:
    std::unique_ptr<std::byte[]> copy_;
    std::size_t size_;
};

// Reads the input from the front; returns zeros at its end.
class reader {
public:
    reader(const std::uint8_t* data, std::size_t size) noexcept : rest_(data, size) {}
    [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
    unsigned byte() noexcept {
        if (rest_.empty()) return 0;
        const unsigned value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }
    std::span<const std::uint8_t> bytes(std::size_t count) noexcept {
        const auto taken = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }

private:
    std::span<const std::uint8_t> rest_;
};

}  // namespace fuzz
