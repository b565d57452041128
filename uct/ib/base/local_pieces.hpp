// The program's memory in one work request.
#pragma once

#include <array>

#include "uct/api/types.hpp"
#include "uct/ib/base/domain.hpp"

namespace uct::ib {

// Pieces of memory that the device may use until they are let go. Owned by a descriptor; owner
// context.
class local_pieces {
public:
    static constexpr std::size_t most = 16;

    // Makes the memory known to the device and fills `into`; empty pieces are left out. On failure
    // the caller lets go of what was taken.
    ucs_status_t use(domain& on, std::span<const iov> pieces, memory_access how,
                     std::span<ibv_sge> into) noexcept;
    void let_go() noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    std::array<local_region, most> regions_;
    std::size_t count_ = 0;
};

}  // namespace uct::ib
