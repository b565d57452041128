// Wire format of a tcp connection.
//
// A connection begins with greetings. A greeting has 40 bytes, and a tail after them:
//   0  u64  magic                     16 u64  interface id of the sender
//   8  u16  version, now 4            24 u64  interface id that the sender wants to talk to
//   10 u16  kind of greeting          32 u32  reason (of a refusal, else 0)
//   12 u32  number of the attempt     36 u32  terms: 1 = job key, 2 = encrypted
//   40      tail, by kind
//
//   kind           sent by                    tail
//   hello      1   the side that connected    16 bytes of nonce
//   challenge  4   the side that accepted     16 bytes of nonce, 16 of proof, 32 of public key
//   proof      5   the side that connected    16 bytes of proof, 32 of public key, 16 of address
//                                             tag, 16 of identity tag
//   welcome    2   the side that accepted     16 bytes of identity tag
//   refusal    3   either side, as its last   none
//
// Nonces and proofs are those of ucs/security/challenge.hpp. Their key is derived from the packed
// address of the side that accepted, which contains its secret, and from the job key if there is
// one. Their context is the 40 bytes of the hello. So a proof is valid only for this address, these
// two interfaces, this attempt and these terms.
//
// An interface id is the first 8 bytes of the interface's public key. The identity tags
// (credentials.hpp) prove that each side owns the key pair of its interface id. The address tag is
// that of the address of the side that connected. The side that accepted may know several addresses
// with the same interface id; the tag says which of them leads to this interface.
//
// Frames follow the greetings, each padded with zeros to a multiple of 8 bytes:
//   0  u32  length of the body, without padding
//   4  u8   active message id (0 in control frames)
//   5  u8   kind of frame
//   6  u16  mark, always 0x5748
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
inline constexpr std::uint16_t version = 4;
inline constexpr std::size_t greeting_size = 40;
inline constexpr std::size_t longest_tail = 80;

enum class greeting_kind : std::uint16_t {
    hello = 1,
    welcome = 2,
    refusal = 3,
    challenge = 4,
    proof = 5,
};
inline constexpr std::uint16_t last_greeting_kind = 5;

enum class refusal_reason : std::uint32_t {
    none = 0,
    not_me = 1,     // another interface has this port now
    lost_race = 2,  // both sides connected at once and the other connection was chosen
    other_version = 3,
    stale = 4,               // a newer connection of the same pair exists
    key_missing = 5,         // only the sender of the refusal has a job key
    key_unexpected = 6,      // only the receiver of the refusal has a job key
    keys_differ = 7,         // a proof is invalid
    encryption_differs = 8,  // only one side encrypts
};
inline constexpr std::uint32_t last_refusal_reason = 8;

// The protection of a connection. The two sides must have equal terms.
struct terms {
    bool job_key = false;    // proofs also depend on the job's key
    bool encrypted = false;  // needs a job key
    bool operator==(const terms&) const noexcept = default;
};

struct greeting {
    greeting_kind kind = greeting_kind::hello;
    std::uint32_t attempt = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    refusal_reason reason = refusal_reason::none;
    wire::terms terms = {};

    // Returns the number of bytes in the tail.
    [[nodiscard]] std::size_t tail_size() const noexcept;
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
    close_request =
        1,  // the sender proposes to close the connection, and sends nothing until the reply
    close_granted = 2,  // reply: agreed, neither side sends any more
    close_denied = 3,   // reply: refused, the connection stays
    leave = 4,          // the interface of the sender closes; nothing follows
};
inline constexpr std::uint8_t last_frame_kind = 4;

inline constexpr std::size_t frame_header_size = 8;
inline constexpr std::uint16_t frame_mark = 0x5748;

// The longest body that a receiver accepts.
inline constexpr std::size_t max_body = std::size_t{16} << 20;

struct frame_header {
    std::uint32_t length;
    std::uint8_t id;
    frame_kind kind;
    std::uint16_t mark;
};
static_assert(sizeof(frame_header) == frame_header_size);

// Returns the size of a frame with a body of `length` bytes: header, body and padding.
[[nodiscard]] constexpr std::size_t frame_size(std::size_t length) noexcept {
    return (frame_header_size + length + 7) & ~std::size_t{7};
}

// Returns nothing if the bytes are not the header of a frame.
[[nodiscard]] std::optional<frame_header> parse_frame(
    std::span<const std::byte, frame_header_size> from) noexcept;

}  // namespace uct::tcp::wire
