// The sender of a datagram as the network names it, whatever the datagram claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ucs/sys/siphash.hpp"
#include "uct/ib/base/gid.hpp"
#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

// Value type. A process of another user cannot choose it freely: the network fills the address in,
// and the device the number of the queue pair.
struct datagram_source {
    ib::raw_gid gid{};  // zero: there was no route header, or none that can be read
    std::uint16_t lid = 0;
    std::uint32_t pair = 0;

    // Returns whether a datagram from here may have been sent by the queue pair `number` of that
    // port. What an answer to the port goes by is compared: its LID, or its GID. RoCE always has a
    // route header. If a device leaves one that cannot be read, any port may have sent the
    // datagram.
    [[nodiscard]] bool may_be(const ib::address& port, std::uint32_t number) const noexcept;
    friend bool operator==(const datagram_source&, const datagram_source&) = default;
};

// The GID in the 40 bytes that the device leaves before a datagram to `receiver`. With RoCE v2 over
// IPv4 they end with the IPv4 header, and what precedes it is undefined; else they are the global
// route header. The GID is zero if they are not.
[[nodiscard]] ib::raw_gid source_gid(std::span<const std::byte, wire::route_header> route_header,
                                     const ib::address& receiver) noexcept;

// Hash that peers cannot predict.
class datagram_source_hash {
public:
    explicit datagram_source_hash(const ucs::sys::hash_key& key) noexcept : key_(key) {}
    [[nodiscard]] std::size_t operator()(const datagram_source& source) const noexcept;

private:
    ucs::sys::hash_key key_;
};

}  // namespace uct::ud
