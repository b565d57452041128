// Message contents that tell every byte of every message apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tools::perf {

// Contents of one message: a function of a seed and of the offset in the message, so a receiver
// knows every byte without having seen the sender's. Value type.
class pattern {
public:
    // `stream` tells directions and threads apart.
    pattern(std::uint32_t stream, std::uint64_t iteration) noexcept;

    // Writes the bytes that belong at `offset` of the message.
    void fill(std::span<std::byte> piece, std::size_t offset) const noexcept;

    // Offset in the message of the first byte that is wrong.
    [[nodiscard]] std::optional<std::size_t> find_difference(std::span<const std::byte> piece,
                                                             std::size_t offset) const noexcept;

    // The byte at `offset`.
    [[nodiscard]] std::byte at(std::size_t offset) const noexcept;

private:
    [[nodiscard]] std::uint64_t word(std::size_t index) const noexcept;

    std::uint64_t seed_;
};

}  // namespace tools::perf
