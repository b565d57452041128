// Message contents in which every byte of every message is different, for validation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tools::perf {

// The content of one message: a function of a seed and of the offset in the message, so a receiver
// can compute every byte. Value type.
class pattern {
public:
    // `stream` distinguishes directions and threads.
    pattern(std::uint32_t stream, std::uint64_t iteration) noexcept;

    // Writes the bytes that belong at `offset` of the message.
    void fill(std::span<std::byte> piece, std::size_t offset) const noexcept;

    // Returns the offset in the message of the first wrong byte.
    [[nodiscard]] std::optional<std::size_t> find_difference(std::span<const std::byte> piece,
                                                             std::size_t offset) const noexcept;

    // The byte at `offset`.
    [[nodiscard]] std::byte at(std::size_t offset) const noexcept;

private:
    [[nodiscard]] std::uint64_t word(std::size_t index) const noexcept;

    std::uint64_t seed_;
};

}  // namespace tools::perf
