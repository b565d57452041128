// The source of a datagram as the network reports it, whatever the datagram itself claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ucs/random/siphash.hpp"
#include "uct/ib/base/device/gid.hpp"
#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

// Value type. A process of another user cannot choose its source freely: the network fills in the
// address, and the device fills in the number of the queue pair.
struct datagram_source {
    ib::raw_gid gid{};  // zero: no route header, or an unreadable one
    std::uint16_t lid = 0;
    std::uint32_t pair = 0;

    // Returns true if the queue pair `number` of that port may have sent a datagram from this
    // source. The comparison uses what routes a reply to the port: its LID, or its GID. With RoCE
    // there is always a route header. If the device leaves an unreadable one, any port may have
    // sent the datagram.
    [[nodiscard]] bool may_be(const ib::address& port, std::uint32_t number) const noexcept;
    friend bool operator==(const datagram_source&, const datagram_source&) = default;
};

// Returns the GID in the 40 bytes that the device leaves before a datagram to `receiver`. With RoCE
// v2 over IPv4 these bytes end with the IPv4 header, and the bytes before it are undefined.
// Otherwise they are the global route header. Returns a zero GID if they hold neither.
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
