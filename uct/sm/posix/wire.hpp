// Wire format of the posix transport's socket.
//
// A sender connects to the abstract SOCK_SEQPACKET socket "hawser-posix-<16 hex digits>" of the
// receiver and sends one hello with one descriptor, the memfd of its ring. The receiver answers
// only to say goodbye. From then on the open socket is how each side notices the other's end, and
// how it wakes the other when that sleeps: the sender after it put a message into the ring, the
// receiver after it made room.
// Numbers are in native byte order: both ends are one host.
// Version rule: magic and version stay where they are for ever; a reader accepts only its version.
//
// hello, 40 bytes            goodbye and wake-up call, 8 bytes
//   0  u32  magic              0  u32  magic
//   4  u16  version            4  u16  version
//   6  u16  zero               6  u16  reason; 4 is the wake-up call
//   8  u64  answer to: the sender's own receiving socket
//  16  u32  pid
//  20  u32  slots
//  24  u32  bulk size
//  28  u32  largest message
//  32  u64  segment size
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "uct/sm/posix/ring_layout.hpp"

namespace uct::posix {

inline constexpr std::uint32_t wire_magic = 0x52575348;  // "HSWR"
inline constexpr std::uint16_t wire_version = 2;

struct hello {
    std::uint32_t magic = wire_magic;
    std::uint16_t version = wire_version;
    std::uint16_t zero = 0;
    std::uint64_t answer_to = 0;
    std::uint32_t pid = 0;
    std::uint32_t slots = 0;
    std::uint32_t bulk_size = 0;
    std::uint32_t max_message = 0;
    std::uint64_t segment_size = 0;

    [[nodiscard]] ring_geometry geometry() const noexcept {
        return {slots, bulk_size, max_message};
    }
};
static_assert(sizeof(hello) == 40 && std::has_unique_object_representations_v<hello>);

enum class goodbye_reason : std::uint16_t { closing = 1, refused = 2, corrupted = 3 };
inline constexpr std::uint16_t wake_up_call = 4;

struct goodbye {
    std::uint32_t magic = wire_magic;
    std::uint16_t version = wire_version;
    goodbye_reason reason = goodbye_reason::closing;
};
static_assert(sizeof(goodbye) == 8);

// A hello that was read, or the reason in words why it is refused.
struct hello_answer {
    std::optional<hello> value;
    std::string why_not;
};
[[nodiscard]] hello_answer parse_hello(std::span<const std::byte> from);

[[nodiscard]] std::optional<goodbye_reason> parse_goodbye(std::span<const std::byte> from);
[[nodiscard]] bool is_wake_up_call(std::span<const std::byte> from);

}  // namespace uct::posix
