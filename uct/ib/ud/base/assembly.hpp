// Messages that need more than one packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace uct::ud {

// Joins the parts of one message after the other, as they come in order; the memory is made with
// the first message that has parts. Part of a receiver; owner context.
class assembly {
public:
    enum class outcome : std::uint8_t { part, whole, malformed, no_memory };

    // A part; `most` is the longest message there is. Of a malformed message nothing is kept.
    outcome add(bool first, bool last, std::span<const std::byte> part, std::size_t most) noexcept;
    // After `whole`; until the next part.
    [[nodiscard]] std::span<std::byte> message() const noexcept { return {bytes_.get(), length_}; }
    void drop() noexcept { open_ = false; }
    // A message has begun.
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    // Frees the memory unless a message has begun.
    void release() noexcept {
        if (!open_) bytes_.reset();
    }
    [[nodiscard]] bool has_memory() const noexcept { return bytes_ != nullptr; }
    // Makes sure that there is memory. False: there is none.
    [[nodiscard]] bool reserve(std::size_t most) noexcept;

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t length_ = 0;
    bool open_ = false;
};

}  // namespace uct::ud
