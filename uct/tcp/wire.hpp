// What goes over a connection.
//
// First a greeting in each direction, 40 bytes:
//   0  u64  magic                     16 u64  interface id of the sender
//   8  u16  version, now 1            24 u64  interface id that the sender wants to talk to
//   10 u16  kind of greeting          32 u32  reason (of a refusal, else 0)
//   12 u32  number of the attempt     36 u32  0
// The side that connected sends `hello`; the other answers `welcome` or `refusal`.
//
// Then frames, each padded with zeros to a multiple of 8 bytes:
//   0  u32  length of the body, without padding
//   4  u8   active message id (0 in control frames)
//   5  u8   kind of frame
//   6  u16  mark
//   8  body
//
// Version rule: a receiver refuses every version but its own. Fields are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace uct::tcp::wire {

inline constexpr std::uint64_t magic = 0x3150435452535748ULL;  // "HWSRTCP1"
inline constexpr std::uint16_t version = 1;
inline constexpr std::size_t greeting_size = 40;

enum class greeting_kind : std::uint16_t { hello = 1, welcome = 2, refusal = 3 };

enum class refusal_reason : std::uint32_t {
    none = 0,
    not_me = 1,     // another interface owns this port now
    lost_race = 2,  // both connected at once and the other connection was chosen
    other_version = 3,
    stale = 4,  // a newer connection of the same pair exists
};

struct greeting {
    greeting_kind kind = greeting_kind::hello;
    std::uint32_t attempt = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    refusal_reason reason = refusal_reason::none;

    void pack(std::span<std::byte, greeting_size> into) const noexcept;
};

enum class greeting_error { none, foreign, other_version, malformed };

struct parsed_greeting {
    greeting value;
    greeting_error error = greeting_error::none;
};
[[nodiscard]] parsed_greeting parse_greeting(
    std::span<const std::byte, greeting_size> from) noexcept;

enum class frame_kind : std::uint8_t {
    message = 0,
    part = 1,          // "I have no use for this connection; may it close?" Nothing follows it
    part_granted = 2,  // answer: yes, neither side sends any more
    part_denied = 3,   // answer: no, go on
    leave = 4,         // the interface of the sender closes; nothing follows
};
inline constexpr std::uint8_t last_frame_kind = 4;

inline constexpr std::size_t frame_header_size = 8;
inline constexpr std::uint16_t frame_mark = 0x5748;

// The longest body that any receiver accepts.
inline constexpr std::size_t max_body = std::size_t{16} << 20;

struct frame_header {
    std::uint32_t length;
    std::uint8_t id;
    frame_kind kind;
    std::uint16_t mark;
};
static_assert(sizeof(frame_header) == frame_header_size);

// Bytes of a whole frame with a body of `length`.
[[nodiscard]] constexpr std::size_t frame_size(std::size_t length) noexcept {
    return (frame_header_size + length + 7) & ~std::size_t{7};
}

// Nothing when the peer sent what no frame begins with.
[[nodiscard]] std::optional<frame_header> parse_frame(
    std::span<const std::byte, frame_header_size> from) noexcept;

}  // namespace uct::tcp::wire
