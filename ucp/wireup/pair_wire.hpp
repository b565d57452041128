// Wire format of the messages `pair` and `paired`, which connect paired lanes.
//
//   pair    count 1, then that many lanes, then the sender's packed worker address
//     lane  transport: length 1, name
//           address of the receiver's interface: length 1, bytes (an entry of its worker address)
//           address of the sender's interface: length 1, bytes
//           connection data of the sender's endpoint: length 1, bytes (uct::ep::pack_connection)
//           number of the sender's device in its keys to memory: 1 (ucp/mem/device_domains.hpp)
//   paired  count 1, then for each lane, in the order of the request:
//           connection data of the responder's endpoint: length 1, bytes; none: it was not made
//           number of its device: 1
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ucp::wireup {

inline constexpr std::size_t max_paired_lanes = 8;

// One lane in a pair request. Points into the message, or into the data that it is packed from.
struct pair_lane {
    std::string_view transport;
    std::span<const std::byte> to;    // address of the receiver's interface
    std::span<const std::byte> from;  // address of the sender's interface
    std::span<const std::byte> connection;
    std::uint8_t device;
};

struct pair_request {
    std::vector<pair_lane> lanes;
    std::span<const std::byte> address;  // of the sender's worker
};

struct pair_reply_lane {
    std::span<const std::byte> connection;
    std::uint8_t device;
};
using pair_reply = std::vector<pair_reply_lane>;

// Names, addresses and data are at most 255 bytes long each.
[[nodiscard]] std::vector<std::byte> pack(const pair_request& from);
[[nodiscard]] std::vector<std::byte> pack(const pair_reply& from);

// Return nothing if the message is malformed. The address is the rest behind the lanes. Any thread.
[[nodiscard]] std::optional<pair_request> parse_pair_request(std::span<const std::byte> from);
[[nodiscard]] std::optional<pair_reply> parse_pair_reply(std::span<const std::byte> from);

}  // namespace ucp::wireup
