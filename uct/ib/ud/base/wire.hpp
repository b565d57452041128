// Wire format of unreliable datagrams. Little-endian.
//
// A datagram follows the 40 bytes that a device reserves for a route header:
//   0  u8   version, now 1
//   1  u8   type
//   2  u8   flags
//   3  u8   of data: active message id; otherwise 0
//   4  u32  packet number; its meaning depends on the type
//   8  u64  id of the connection, as chosen by the datagram's receiver; 0: not known yet
//   16 u64  id of the connection whose packets are acknowledged, as chosen by the datagram's
//           receiver; 0: none
//   24 u32  acknowledgement: the expected packet number; all packets before it have arrived
//   28 u32  0
//   32 ...  body
//
// A connection has one direction, from an endpoint to an interface. Its packets are numbered.
//   data     a packet: a message or a part of one. The flags `first` and `last` mark the begin and
//            the end of a message; `ack_now` requests an immediate acknowledgement.
//   ack      only an acknowledgement. The body is a u64 bit mask of the packets after the expected
//            one that have arrived; the lowest bit stands for expected + 1.
//   request  requests a connection, or checks that it still exists: the receiver creates its state
//            if there is none. The number is that of the oldest unacknowledged packet. The body is
//            `hello`.
//   resync   as request, and the number is the next expected one in any case: the receiver drops
//            its state of the connection, including packets before that number.
//   reply    the reply to request and resync, for the sending side. The number is the expected one,
//            the body is `welcome`.
//   refuse   a packet came whose number is impossible on this connection. For the sending side; the
//            number is the expected one.
//   goodbye  the sender sends nothing more. The body is `hello`.
//   ended    there is no such connection; also the reply to a goodbye. For the sending side, or for
//            no connection if that is not known. The body is a u64, the receiving side's id. The
//            flag `iface_closes` means that the whole interface closes.
// Malformed datagrams are dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ucs/random/siphash.hpp"
#include "uct/ib/base/device/address.hpp"
#include "uct/ib/ud/base/psn.hpp"

namespace uct::ud::wire {

inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t route_header =
    40;  // GRH, InfiniBand specification, volume 1, chapter 8.3

enum class kind : std::uint8_t { data = 1, ack, request, resync, reply, refuse, goodbye, ended };

// Packets that may be in flight on one connection.
inline constexpr std::uint32_t most_window = 1024;

enum flags : std::uint8_t {
    no_flags = 0,
    first = 1U << 0,
    last = 1U << 1,
    whole = first | last,
    ack_now = 1U << 2,
    iface_closes = 1U << 3,
};

struct header {
    std::uint8_t version;
    kind type;
    std::uint8_t flags;
    std::uint8_t id;
    std::uint32_t number;
    std::uint64_t to;
    std::uint64_t acknowledges;
    std::uint32_t expected;
    std::uint32_t zero;
};
inline constexpr std::size_t header_size = 32;
static_assert(sizeof(header) == header_size);

// A valid datagram: its header, and a body whose length fits its type. `parse` returns nothing if
// the datagram is malformed or of another version. The body of data may have any length.
struct datagram {
    header head;
    std::span<std::byte> body;
};
[[nodiscard]] std::optional<datagram> parse(std::span<std::byte> bytes) noexcept;

// Reads the body of ack and ended.
[[nodiscard]] std::uint64_t u64_in(std::span<const std::byte> body) noexcept;

// Address of an interface: the port, the number of the queue pair, and the key without which the
// device drops datagrams.
struct address {
    static constexpr std::size_t size = ib::address::size + 8;

    ib::address port;
    std::uint32_t pair = 0;
    std::uint32_t key = 0;

    void pack(std::span<std::byte> into) const noexcept;
    [[nodiscard]] static std::optional<address> parse(std::span<const std::byte> from) noexcept;
    friend bool operator==(const address&, const address&) = default;
};

// Keyed hash of addresses. Peers choose their addresses, but cannot predict the hash.
class address_hash {
public:
    explicit address_hash(const ucs::sys::hash_key& secret) noexcept : secret_(secret) {}
    [[nodiscard]] std::size_t operator()(const address& hashed) const noexcept;

private:
    ucs::sys::hash_key secret_;
};

// Body of request and resync.
//   0  40  address of the requesting interface
//   40 u64 id that it gave the connection
//   48 u32 request number; a resync counts if its number is newer than the last one
//   52 u32 timeout in seconds after which the requester gives up, at most `max_timeout`
struct hello {
    static constexpr std::size_t size = address::size + 16;
    // The receiving side keeps a silent connection for twice the timeout of the sender, so that
    // timeout is limited: the maximum of UD_VERBS_TIMEOUT, rounded up to the next second. With a
    // lower limit, a receiver would remove senders that still rely on it, and their messages could
    // be delivered twice.
    static constexpr std::uint32_t max_timeout = 3600 + 1;

    address from;
    std::uint64_t connection = 0;
    std::uint32_t request_number = 0;
    std::uint32_t timeout = 0;

    void pack(std::span<std::byte> into) const noexcept;
    [[nodiscard]] static std::optional<hello> parse(std::span<const std::byte> from) noexcept;
    friend bool operator==(const hello&, const hello&) = default;
};

// Body of reply.
//   0  u64 id that the replying interface gave the connection
//   8  u32 number of the request
//   12 u32 0
struct welcome {
    static constexpr std::size_t size = 16;

    std::uint64_t connection = 0;
    std::uint32_t request_number = 0;

    void pack(std::span<std::byte> into) const noexcept;
    [[nodiscard]] static std::optional<welcome> parse(std::span<const std::byte> from) noexcept;
    friend bool operator==(const welcome&, const welcome&) = default;
};

}  // namespace uct::ud::wire
