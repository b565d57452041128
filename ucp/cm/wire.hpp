// Wire format between client and server over a channel, before their endpoints are connected.
//
// With a job key the client begins with a key handshake (ucs/security/key_handshake.hpp), and sends
// nothing else before both sides have proven the key. Without a key it begins with its request. A
// server with a key refuses a client that begins without a key handshake, and a server without one
// lets the key handshake fail.
//
// Every message is a frame: a header, and a body of at most 4096 bytes.
//
// request      the client requests a connection. Flag 1: it shows its client id. Body: u64 uid of
//              its worker, u64 id of its endpoint, u64 token, u64 client id, then the packed
//              address of its worker. The server connects to that by a `bind` with id and token
//              (ucp/wireup/wire.hpp), which is the answer.
// refusal      the server refuses; no body. It closes the channel.
// established  the client got the bind and closes the channel; no body.
//
// Version rule: magic and version stay where they are for ever. A server refuses other versions,
// and its refusal has its own version in it. Fields are little-endian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ucp::cm::wire {

inline constexpr std::size_t header_size = 16;
inline constexpr std::size_t max_body = 4096;

// Names the kind of connection in the key handshake.
inline constexpr std::string_view handshake_purpose = "ucp listener";

enum class kind : std::uint8_t { request = 1, refusal = 2, established = 3 };

enum class reason : std::uint32_t {
    none = 0,
    rejected = 1,    // by the program
    not_served = 2,  // the listener or its worker is gone
    other_version = 3,
    unreachable = 4,  // no transport leads to the client
    malformed = 5,
    key_missing = 6,  // the server has a job key, and the client began without a key handshake
};

struct header {
    std::uint32_t magic = 0x4d435748;  // "HWCM"
    std::uint16_t version = 1;
    wire::kind kind = kind::request;
    std::uint8_t flags = 0;
    std::uint32_t length = 0;            // of the body
    wire::reason reason = reason::none;  // of a refusal

    [[nodiscard]] std::array<std::byte, header_size> pack() const noexcept {
        return std::bit_cast<std::array<std::byte, header_size>>(*this);
    }
};
static_assert(sizeof(header) == 16 && sizeof(header) == header_size);

// A parsed header, or the reason why it is invalid, in words and for a refusal.
struct header_answer {
    std::optional<header> value;
    const char* why_not = nullptr;
    wire::reason answer = wire::reason::malformed;
};
[[nodiscard]] header_answer parse_header(std::span<const std::byte, header_size> from) noexcept;

struct request {
    static constexpr std::uint8_t has_client_id = 1;

    std::uint64_t uid = 0;
    std::uint64_t ep = 0;
    std::uint64_t token = 0;  // 56 bits
    std::uint64_t client_id = 0;
    bool shows_client_id = false;
    std::vector<std::byte> address;

    // Returns the whole frame.
    [[nodiscard]] std::vector<std::byte> pack() const;
};

// Parses the body of a request frame. The address in it is not examined. May throw std::bad_alloc.
[[nodiscard]] std::optional<request> parse_request(const header& header,
                                                   std::span<const std::byte> body);

}  // namespace ucp::cm::wire
