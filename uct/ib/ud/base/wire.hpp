// What interfaces of unreliable datagrams send. Layout first, little-endian.
//
// A datagram, behind the 40 bytes that a device leaves for a route header:
//   0  u8   version, now 1
//   1  u8   kind
//   2  u8   flags
//   3  u8   data: active message id; else 0
//   4  u32  packet number; see the kinds
//   8  u64  connection that it is for, by the id that the datagram's receiver gave it; 0: none yet
//   16 u64  connection whose packets are acknowledged, by the id that the datagram's receiver gave
//           it; 0: none
//   24 u32  acknowledged: the number expected there, all before it have arrived
//   28 u32  0
//   32 ...  body
//
// A connection has one direction, from an endpoint to an interface; its packets are numbered.
//   data     a packet: a message or a part of it. Flags `first` and `last` say where messages begin
//            and end; `ask` wants the acknowledgement now.
//   ack      only the acknowledgement. The body is a u64 whose bits say which packets behind the
//            expected one have arrived, the lowest bit that of expected + 1.
//   request  asks for a connection, or whether it still stands: its state is made if there is none.
//            The number is that of the oldest packet that is not acknowledged. The body is `hello`.
//   resync   as request, and in any case the number is what is expected from now on: what was there
//            of the connection is lost, and so are packets before that number.
//   reply    to request and resync. It is for the sending side, the number is the expected one, the
//            body is `welcome`.
//   refuse   the packet that came cannot be one of this connection, by its number. It is for the
//            sending side, the number is the expected one.
//   goodbye  nothing more is sent. The body is `hello`.
//   ended    there is no such connection; also the answer to a goodbye. It is for the sending side,
//            or none where that is not known; the body is a u64, the receiving side's id. The flag
//            `leaves` says that the whole interface goes.
// What is malformed is dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ucs/sys/siphash.hpp"
#include "uct/ib/base/address.hpp"
#include "uct/ib/ud/base/psn.hpp"

namespace uct::ud::wire {

inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t route_header = 40;  // GRH of the specification, volume 1, chapter 8.3

enum class kind : std::uint8_t { data = 1, ack, request, resync, reply, refuse, goodbye, ended };

// Packets that may be under way on one connection.
inline constexpr std::uint32_t most_window = 1024;

enum flags : std::uint8_t {
    no_flags = 0,
    first = 1U << 0,
    last = 1U << 1,
    whole = first | last,
    ask = 1U << 2,
    leaves = 1U << 3,
};

struct header {
    std::uint8_t version;
    kind what;
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

// A datagram that is possible: its header, and a body whose length fits its kind. Nothing: it is
// malformed, or of another version. The body of data may have any length.
struct datagram {
    header head;
    std::span<std::byte> body;
};
[[nodiscard]] std::optional<datagram> parse(std::span<std::byte> bytes) noexcept;

// The body of ack and ended.
[[nodiscard]] std::uint64_t word_in(std::span<const std::byte> body) noexcept;

// Where datagrams go: the port, the number of the queue pair, and a key without which the device
// does not take them.
//   0  32  address of uct/ib/base/address.hpp
//   32 u32 number of the queue pair (24 bits)
//   36 u32 key (31 bits)
struct address {
    static constexpr std::size_t size = ib::address::size + 8;

    ib::address port;
    std::uint32_t pair = 0;
    std::uint32_t key = 0;

    void pack(std::span<std::byte> into) const noexcept;
    [[nodiscard]] static std::optional<address> parse(std::span<const std::byte> from) noexcept;
    friend bool operator==(const address&, const address&) = default;
};

// Hash of addresses that peers, who choose their own, cannot predict.
class address_hash {
public:
    explicit address_hash(const ucs::sys::hash_key& secret) noexcept : secret_(secret) {}
    [[nodiscard]] std::size_t operator()(const address& hashed) const noexcept;

private:
    ucs::sys::hash_key secret_;
};

// Body of request and resync.
//   0  40  address of the interface that asks
//   40 u64 id that it gave the connection
//   48 u32 number of the question; a resync counts if it is newer than the last one
//   52 u32 seconds after which it gives up, at most `most_patience`
struct hello {
    static constexpr std::size_t size = address::size + 16;
    // The receiving side keeps a silent connection for twice as long as the sender is patient, so
    // the sender's number is limited: the maximum of UD_VERBS_TIMEOUT, rounded up to the next
    // second. A lower limit would forget senders that still count on being known, and their
    // messages could be delivered twice.
    static constexpr std::uint32_t most_patience = 3600 + 1;

    address from;
    std::uint64_t connection = 0;
    std::uint32_t question = 0;
    std::uint32_t patience = 0;

    void pack(std::span<std::byte> into) const noexcept;
    [[nodiscard]] static std::optional<hello> parse(std::span<const std::byte> from) noexcept;
    friend bool operator==(const hello&, const hello&) = default;
};

// Body of reply.
//   0  u64 id that the answering interface gave the connection
//   8  u32 number of the question that this answers
//   12 u32 0
struct welcome {
    static constexpr std::size_t size = 16;

    std::uint64_t connection = 0;
    std::uint32_t question = 0;

    void pack(std::span<std::byte> into) const noexcept;
    [[nodiscard]] static std::optional<welcome> parse(std::span<const std::byte> from) noexcept;
    friend bool operator==(const welcome&, const welcome&) = default;
};

inline constexpr std::size_t longest_body = hello::size;  // but data

}  // namespace uct::ud::wire
