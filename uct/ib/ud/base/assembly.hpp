// Reassembly of messages that consist of several packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace uct::ud {

// Joins the parts of one message in the order of their arrival. The buffer is allocated with the
// first message that has parts. Member of a receiver; owner context.
class assembly {
public:
    enum class outcome : std::uint8_t { part, whole, malformed, no_memory };

    // Appends a part. `most` is the length of the longest valid message. If the message is
    // malformed, its parts are dropped.
    outcome add(bool first, bool last, std::span<const std::byte> part, std::size_t most) noexcept;
    // Returns the message after `add` returned `whole`. Valid until the next call of `add`.
    [[nodiscard]] std::span<std::byte> message() const noexcept { return {bytes_.get(), length_}; }
    void drop() noexcept { open_ = false; }
    // Returns true if the first part of a message has come and the last one has not.
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    // Frees the buffer unless a message is incomplete.
    void release() noexcept {
        if (!open_) bytes_.reset();
    }
    [[nodiscard]] bool has_memory() const noexcept { return bytes_ != nullptr; }
    // Allocates the buffer if there is none. Returns false if there is no memory.
    [[nodiscard]] bool reserve(std::size_t most) noexcept;

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t length_ = 0;
    bool open_ = false;
};

}  // namespace uct::ud
