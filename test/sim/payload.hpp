// The data buffer of one message in a simulated program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/api/ucp.h"
#include "ucs/random/seeded.hpp"

namespace sim_test {

// Byte `index` of message `id`.
[[nodiscard]] std::byte pattern(std::uint64_t id, std::size_t index) noexcept;
// Byte `index` of byte stream `id`. The first word of a stream is its id, so a reader can compute
// all later bytes.
[[nodiscard]] std::byte stream_byte(std::uint64_t id, std::size_t index) noexcept;
// Value of bytes that no message has written. Bytes of messages may have the same value.
inline constexpr std::byte untouched{0xa5};

enum class layout : std::uint8_t { bytes, words, pieces, generic };

// A buffer of one of the datatypes. Each piece is a heap allocation of its exact size, so a
// sanitizer detects every access beyond it. Owned by the operation that uses it.
class payload {
public:
    payload(layout kind, std::size_t length, ucs::sys::random& dice);
    payload(const payload&) = delete;
    payload& operator=(const payload&) = delete;

    [[nodiscard]] void* buffer() noexcept;
    [[nodiscard]] std::size_t count() const noexcept;
    [[nodiscard]] ucp_datatype_t datatype() const noexcept;
    [[nodiscard]] std::size_t length() const noexcept { return length_; }

    // Writes message `id`, in packed order.
    void fill(std::uint64_t id) noexcept;
    // Writes the bytes of stream `id`, beginning with byte `from`.
    void fill_stream(std::uint64_t id, std::size_t from) noexcept;
    // Overwrites the buffer with `untouched`.
    void spoil() noexcept;
    // Returns the contents in packed order.
    [[nodiscard]] std::vector<std::byte> packed() const;
    // Returns true if the buffer holds the first `length` bytes of message `id` and the rest is
    // untouched.
    [[nodiscard]] bool holds(std::uint64_t id, std::size_t length) const noexcept;

    // The same for a stream, beginning with its byte `from`.
    [[nodiscard]] bool holds_stream(std::uint64_t id, std::size_t from,
                                    std::size_t length) const noexcept;
    // The same, but the bytes behind may have any value.
    [[nodiscard]] bool begins_with_stream(std::uint64_t id, std::size_t from,
                                          std::size_t length) const noexcept;

    // Number of generic datatype states that were started and not finished.
    static std::size_t open_states() noexcept;

private:
    struct block {
        std::unique_ptr<std::byte[]> memory;
        std::size_t length;
    };
    friend struct generic_callbacks;
    template<class Visit>
    void visit(std::size_t offset, std::size_t length, Visit&& piece);
    template<class Expected>
    [[nodiscard]] bool holds_bytes(std::size_t length, Expected&& expected) const noexcept;
    void add(std::size_t length);

    layout layout_;
    std::size_t length_;
    std::vector<block> blocks_;
    std::vector<ucp_dt_iov_t> pieces_;
};

}  // namespace sim_test
