// Zero-padded copy of a packed address from a peer, safe to pass to ucp_ep_create.
#pragma once

#include <ucp/api/ucp_def.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "ucp/address/address.hpp"

namespace ucp::address {

// ucp_ep_create gets no length. It reads as many bytes as the address claims to have, up to
// max_packed_size, and a peer may claim more than it sent. This copy continues with zeros behind
// the bytes that were sent. Bytes beyond max_packed_size are dropped, because no valid address has
// them. Plain value.
class padded {
public:
    explicit padded(std::span<const std::byte> packed) noexcept {
        std::copy_n(packed.begin(), std::min(packed.size(), bytes_.size()), bytes_.begin());
    }

    // Valid as long as this object.
    [[nodiscard]] const ucp_address_t* get() const noexcept {
        return reinterpret_cast<const ucp_address_t*>(bytes_.data());
    }

private:
    std::array<std::byte, max_packed_size> bytes_{};
};

}  // namespace ucp::address
