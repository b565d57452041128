// A copy of a packed address that a peer sent, behind which ucp_ep_create may read.
#pragma once

#include <ucp/api/ucp_def.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "ucp/address/address.hpp"

namespace ucp::address {

// ucp_ep_create is told no length: it reads as many bytes as the address claims to have, up to
// max_packed_size, and a peer may claim more than it sent. Here zeros follow those that it sent.
// Bytes beyond max_packed_size are left out: no valid address has them. Plain value.
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
