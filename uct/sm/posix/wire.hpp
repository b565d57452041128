// Wire format of the posix transport's socket.
//
// A sender connects to the abstract SOCK_SEQPACKET socket "hawser-posix-<16 hex digits>" of the
// receiver, and checks which process listens there. Then both prove to each other that they know
// the secret in the receiver's address (ucs/security/challenge.hpp), because by now the name may
// belong to another process. Only after the receiver's proof the sender passes its ring on:
//
//   sender                                   receiver
//   challenge                            ->
//                                        <-  reply, with the receiver's proof
//   hello, with the sender's proof and   ->  maps the ring
//   one descriptor, the memfd of its ring
//
// Instead of a reply, and at any time later, the receiver may send a goodbye. From the hello on,
// the open socket shows each side the end of the other one. Each side also uses it to wake the
// other: the sender after it has put a message into the ring, the receiver after it has made room.
// Numbers are in native byte order: both ends are one host.
// Version rule: magic and version stay where they are for ever; a reader accepts only its version.
//
// every packet                  challenge, 32 bytes         hello, 48 bytes
//   0  u32  magic                 8  u64  reply socket: the   8  u32  pid
//   4  u16  version                       sender's own       12  u32  slots
//   6  u16  kind                          receiving socket   16  u32  bulk size
//                                16  nonce                   20  u32  largest message
// goodbye, wake-up call, 8 bytes                             24  u64  segment size
//                               reply, 40 bytes              32  proof
//                                 8  nonce
//                                24  proof
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "ucs/security/challenge.hpp"
#include "uct/sm/posix/ring_layout.hpp"

namespace uct::posix {

inline constexpr std::uint32_t wire_magic = 0x52575348;  // "HSWR"
inline constexpr std::uint16_t wire_version = 3;

enum class packet_kind : std::uint16_t {
    closing = 1,    // goodbye: the receiver has closed
    refused = 2,    // goodbye: wrong user, secret, version or segment, or no memory
    corrupted = 3,  // goodbye: the ring contains invalid data
    wake_up_call = 4,
    challenge = 5,
    reply = 6,
    hello = 7,
};

struct packet_header {
    std::uint32_t magic = wire_magic;
    std::uint16_t version = wire_version;
    packet_kind kind = packet_kind::closing;
};
static_assert(sizeof(packet_header) == 8);

struct challenge {
    packet_header header{.kind = packet_kind::challenge};
    std::uint64_t reply_socket = 0;
    ucs::security::nonce nonce{};
};
static_assert(sizeof(challenge) == 32 && std::has_unique_object_representations_v<challenge>);

struct reply {
    packet_header header{.kind = packet_kind::reply};
    ucs::security::reply content{};
};
static_assert(sizeof(reply) == 40 && std::has_unique_object_representations_v<reply>);

struct hello {
    packet_header header{.kind = packet_kind::hello};
    std::uint32_t pid = 0;
    std::uint32_t slots = 0;
    std::uint32_t bulk_size = 0;
    std::uint32_t max_message = 0;
    std::uint64_t segment_size = 0;
    ucs::security::proof proof{};

    [[nodiscard]] ring_geometry geometry() const noexcept {
        return {slots, bulk_size, max_message};
    }
};
static_assert(sizeof(hello) == 48 && std::has_unique_object_representations_v<hello>);

// The parsed packet, or the reason why it is refused.
template<class Packet>
struct parsed {
    std::optional<Packet> value;
    std::string reason;
};
[[nodiscard]] parsed<challenge> parse_challenge(std::span<const std::byte> from);
[[nodiscard]] parsed<reply> parse_reply(std::span<const std::byte> from);
[[nodiscard]] parsed<hello> parse_hello(std::span<const std::byte> from);

// Returns nothing if the packet is no goodbye.
[[nodiscard]] std::optional<packet_kind> parse_goodbye(std::span<const std::byte> from);
[[nodiscard]] bool is_wake_up_call(std::span<const std::byte> from);

// Identifies the connection to which proofs are bound: no other one has the same two sockets.
struct connection_name {
    char purpose[16] = "posix rings";
    std::uint64_t receiver = 0;
    std::uint64_t sender = 0;

    [[nodiscard]] ucs::security::bytes as_bytes() const noexcept {
        return std::as_bytes(std::span(this, 1));
    }
};
static_assert(std::has_unique_object_representations_v<connection_name>);

}  // namespace uct::posix
