// Contents of a packed memory key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ucp/mem/access.hpp"
#include "ucp/mem/wire.hpp"
#include "uct/sm/memory/shared_block.hpp"

namespace ucp::mem {

// Key of the memory at one of the owner's devices (uct::memory_domain), with the device's number.
struct device_key {
    std::uint8_t device;
    std::vector<std::byte> bytes;
    friend bool operator==(const device_key&, const device_key&) = default;
};

// A key in plain form.
struct key {
    credentials owner;
    std::uint64_t base = 0;
    std::uint64_t length = 0;
    std::uint8_t allowed = 0;  // access
    bool exported = false;
    bool on_device = false;     // the processor must not access it
    uct::sm::block_name block;  // empty: other processes cannot map the memory
    std::vector<device_key> devices = {};
    friend bool operator==(const key&, const key&) = default;
};

struct packed_key {
    std::array<std::byte, wire::longest> bytes{};
    std::size_t length = 0;
};

// Leaves out device keys that do not fit; peers of these devices use messages.
[[nodiscard]] packed_key pack(const key& from) noexcept;

// Returns the length of the key that begins at `packed`, as the key itself states: at most
// wire::longest, 0 if the stated length is impossible.
[[nodiscard]] std::size_t packed_length(const std::byte* packed) noexcept;

// Returns nothing if the key is malformed or of another version. Pure; any thread.
[[nodiscard]] std::optional<key> parse_key(std::span<const std::byte> from);

}  // namespace ucp::mem
