// The program's memory in one work request.
#pragma once

#include <array>

#include "uct/api/types.hpp"
#include "uct/ib/base/memory/domain.hpp"

namespace uct::ib {

// Registered pieces of memory, which the device may use until `release`. Owned by a descriptor;
// owner context.
class local_pieces {
public:
    static constexpr std::size_t most = 16;

    // Registers the memory and fills `into`; empty pieces are left out. On failure the caller must
    // call `release`.
    ucs_status_t use(domain& on, std::span<const iov> pieces, memory_access access,
                     std::span<ibv_sge> into) noexcept;
    void release() noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    std::array<local_region, most> regions_;
    std::size_t count_ = 0;
};

}  // namespace uct::ib
