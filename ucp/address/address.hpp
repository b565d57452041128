// The packed address of a worker, by which peers find it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ucs/log/throttle.hpp"
#include "ucs/security/key_pair.hpp"
#include "ucs/type/result.hpp"
#include "uct/api/iface.hpp"

namespace ucp::address {

inline constexpr std::size_t max_packed_size = 1024;  // size that clients reserve for an address
inline constexpr std::size_t max_name = 31;           // of a worker
inline constexpr std::size_t max_resource_name = 15;  // of a transport or device
inline constexpr std::size_t max_iface_address = 255;

// One interface of a worker. Latency and overhead are in seconds, bandwidth is in bytes per second,
// all as the interface's owner sees them. They are transmitted with 9 significant bits (see
// quantise).
struct entry {
    std::string transport;
    std::string device;
    uct::scope scope = uct::scope::network;
    float latency = 0;
    float bandwidth = 0;
    float overhead = 0;
    std::vector<std::byte> iface_address;

    bool operator==(const entry&) const = default;
};

// Returns the number that names a worker: the first 8 bytes of its public key. So a worker can
// prove that a number is its own, and cannot make a key for the number of another worker.
[[nodiscard]] std::uint64_t uid_of(const ucs::security::public_key& identity) noexcept;

// Flag of an address: its network interfaces without paired lanes serve connection data only.
inline constexpr std::uint32_t network_only_connects = 1U << 0;

// All information that an address gives to a peer. Plain value.
struct worker_address {
    // Key by which connection messages from and to the worker are authenticated, see
    // ucp/wireup/proof.hpp.
    ucs::security::public_key identity{};
    std::uint32_t flags = 0;
    std::string name;
    std::vector<entry> entries;

    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_of(identity); }
    bool operator==(const worker_address&) const = default;
};

// Returns the value that a number has after transmission: relative error below 1/256. Negative
// numbers and NaN become 0. Both sides base their choices on this value of an entry.
[[nodiscard]] float quantise(float value) noexcept;

// Packs an address; `net_only` leaves out entries that only peers on this host can use. Entries
// that do not fit into max_packed_size are left out, least useful first (logged). A long name is
// shortened, and control characters in it are replaced. Any thread.
[[nodiscard]] std::vector<std::byte> pack(const worker_address& from, bool net_only);

// Reads an address whose length is not known (ucp_ep_create). Reads at most the length that its
// header claims. Errors as below.
[[nodiscard]] ucs::result<worker_address> parse(const void* packed);

// Reads an address at the beginning of `bytes`; bytes behind it (padding) are ignored. Returns
// UCS_ERR_INVALID_ADDR if the address is damaged, cut or has another format, UCS_ERR_UNSUPPORTED if
// its version is newer. One log line says what is wrong; if a peer sent the address, pass the
// throttle that counts it in `to`.
[[nodiscard]] ucs::result<worker_address> parse(std::span<const std::byte> bytes,
                                                ucs::log::throttle* to = nullptr);

// Returns the public key in a packed address, which may be damaged otherwise. Returns nothing if
// the address is too short for a key.
[[nodiscard]] std::optional<ucs::security::public_key> identity_in(
    std::span<const std::byte> packed) noexcept;

// Returns the length of the packed address at the beginning of `bytes`. Checks the address like
// parse, but does not read its entries.
[[nodiscard]] ucs::result<std::size_t> packed_length(std::span<const std::byte> bytes,
                                                     ucs::log::throttle* to = nullptr);
// Like above for an address whose length is not known (ucp_ep_create). Reads at most the length
// that the header claims, so the address must not come from a peer.
[[nodiscard]] ucs::result<std::size_t> packed_length(const void* packed);

}  // namespace ucp::address
