// The packed address of a worker: how peers find it.
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

inline constexpr std::size_t max_packed_size = 1024;  // what clients reserve for an address
inline constexpr std::size_t max_name = 31;           // of a worker
inline constexpr std::size_t max_resource_name = 15;  // of a transport or device
inline constexpr std::size_t max_iface_address = 255;

// One interface of a worker. Latency and overhead in seconds, bandwidth in bytes per second, all
// as the interface's owner sees them; they travel with 9 significant bits (see quantise).
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

// The number that names a worker: the first 8 bytes of its public key. So a worker can prove that a
// number is its own, and cannot make itself a key for the number of another worker.
[[nodiscard]] std::uint64_t uid_of(const ucs::security::public_key& identity) noexcept;

// Everything that a peer learns from an address. Plain value.
struct worker_address {
    // Connection messages from and to the worker are proven with it, see ucp/wireup/proof.hpp.
    ucs::security::public_key identity{};
    std::uint32_t flags = 0;  // meaning belongs to wireup; carried as it is
    std::string name;
    std::vector<entry> entries;

    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_of(identity); }
    bool operator==(const worker_address&) const = default;
};

// The value that a number has after travelling: relative error below 1/256. Negative numbers and
// NaN become 0. Both sides that compute a choice from an entry use this value of it.
[[nodiscard]] float quantise(float value) noexcept;

// Packs an address; `net_only` leaves out what only peers on this host can use. Entries that do
// not fit into max_packed_size are left out, least useful first (logged). A long or unprintable
// name is shortened or cleaned. Any thread.
[[nodiscard]] std::vector<std::byte> pack(const worker_address& from, bool net_only);

// Reads an address of which only the beginning is known (ucp_ep_create). Reads at most the length
// that the header claims. Errors as below.
[[nodiscard]] ucs::result<worker_address> parse(const void* packed);

// Reads an address at the beginning of `bytes`; what follows it (padding) is ignored.
// UCS_ERR_INVALID_ADDR for what is damaged, cut or not an address of ours, UCS_ERR_UNSUPPORTED for
// one of a newer version; one log line says what was wrong, counted by `to` when a peer sent it.
[[nodiscard]] ucs::result<worker_address> parse(std::span<const std::byte> bytes,
                                                ucs::log::throttle* to = nullptr);

// The public key in a packed address, which may be damaged otherwise; nothing when it is too short
// to hold one.
[[nodiscard]] std::optional<ucs::security::public_key> identity_in(
    std::span<const std::byte> packed) noexcept;

// Length of the packed address at the beginning of `bytes`, by the same rules as parse, without
// reading its entries.
[[nodiscard]] ucs::result<std::size_t> packed_length(std::span<const std::byte> bytes,
                                                     ucs::log::throttle* to = nullptr);
// The same where only the beginning is known (ucp_ep_create): reads at most the length that the
// header claims, so the address must not come from a peer.
[[nodiscard]] ucs::result<std::size_t> packed_length(const void* packed);

}  // namespace ucp::address
