// The program's memory of one message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/api/ucp.h"
#include "uct/sim/random.hpp"

namespace sim_test {

// Byte `at` of message number `id`.
[[nodiscard]] std::byte pattern(std::uint64_t id, std::size_t at) noexcept;
// Byte `at` of byte stream `id`. The first word is the id: whoever reads it knows what must come.
[[nodiscard]] std::byte stream_byte(std::uint64_t id, std::size_t at) noexcept;
// What no message wrote. Some bytes of messages are equal to it.
inline constexpr std::byte untouched{0xa5};

enum class layout : std::uint8_t { bytes, words, pieces, generic };

// A buffer of one of the datatypes, every piece in heap memory of exactly its size, so that a
// sanitizer sees each byte too far. Owned by the operation that uses it.
class payload {
public:
    payload(layout how, std::size_t length, uct::sim::random& dice);
    payload(const payload&) = delete;
    payload& operator=(const payload&) = delete;

    [[nodiscard]] void* buffer() noexcept;
    [[nodiscard]] std::size_t count() const noexcept;
    [[nodiscard]] ucp_datatype_t datatype() const noexcept;
    [[nodiscard]] std::size_t length() const noexcept { return length_; }

    // Message number `id` in packed order.
    void fill(std::uint64_t id) noexcept;
    // Bytes of stream `id` from `from` on.
    void fill_stream(std::uint64_t id, std::size_t from) noexcept;
    // What no message holds.
    void spoil() noexcept;
    // What it holds, in packed order.
    [[nodiscard]] std::vector<std::byte> packed() const;
    // Whether it holds the first `length` bytes of message `id`, and nothing was written behind.
    [[nodiscard]] bool holds(std::uint64_t id, std::size_t length) const noexcept;

    // The same of a stream, from its byte `from` on.
    [[nodiscard]] bool holds_stream(std::uint64_t id, std::size_t from,
                                    std::size_t length) const noexcept;
    // And whatever behind.
    [[nodiscard]] bool begins_with_stream(std::uint64_t id, std::size_t from,
                                          std::size_t length) const noexcept;

    // Datatype objects of generic payloads that are started and not finished.
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

    layout how_;
    std::size_t length_;
    std::vector<block> blocks_;
    std::vector<ucp_dt_iov_t> pieces_;
};

}  // namespace sim_test
