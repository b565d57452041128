// What the messages say by which lanes that come in pairs are connected. Layout first.
//
//   pair    count 1, then that many lanes, then the sender's packed worker address
//     lane  transport: length 1, name
//           address of the receiver's interface: length 1, bytes (an entry of its worker address)
//           address of the sender's interface: length 1, bytes
//           connection data of the sender's endpoint: length 1, bytes (uct::ep::pack_connection)
//           number of the sender's device in its keys to memory: 1 (ucp/mem/device_domains.hpp)
//   paired  count 1, then for each lane, in the order of the question:
//           connection data of the answering endpoint: length 1, bytes; none: it was not made
//           number of its device: 1
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ucp::wireup {

inline constexpr std::size_t max_paired_lanes = 8;

// One lane as its asker describes it. Points into the message, or what it is packed from.
struct pair_lane {
    std::string_view transport;
    std::span<const std::byte> to;    // the receiver's interface
    std::span<const std::byte> from;  // the sender's
    std::span<const std::byte> connection;
    std::uint8_t device;
};

struct pair_question {
    std::vector<pair_lane> lanes;
    std::span<const std::byte> address;  // of the sender's worker
};

struct pair_half {
    std::span<const std::byte> connection;
    std::uint8_t device;
};
using pair_answer = std::vector<pair_half>;

// Names, addresses and data are at most 255 bytes long each.
[[nodiscard]] std::vector<std::byte> pack(const pair_question& from);
[[nodiscard]] std::vector<std::byte> pack(const pair_answer& from);

// Nothing when it is malformed. The address is whatever follows the lanes. Any thread.
[[nodiscard]] std::optional<pair_question> parse_question(std::span<const std::byte> from);
[[nodiscard]] std::optional<pair_answer> parse_answer(std::span<const std::byte> from);

}  // namespace ucp::wireup
