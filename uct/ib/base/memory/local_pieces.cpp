#include "uct/ib/base/memory/local_pieces.hpp"

namespace uct::ib {

ucs_status_t local_pieces::use(domain& on, std::span<const iov> pieces, memory_access access,
                               std::span<ibv_sge> into) noexcept {
    for (const iov& each : pieces) {
        if (each.length == 0) continue;
        auto region = on.use(each.base, each.length, access);
        if (!region) return region.status();
        into[count_] = {reinterpret_cast<std::uint64_t>(each.base),
                        static_cast<std::uint32_t>(each.length), region->key()};
        regions_[count_++] = std::move(*region);
    }
    return UCS_OK;
}

void local_pieces::release() noexcept {
    for (std::size_t i = 0; i < count_; ++i)
        regions_[i] = {};
    count_ = 0;
}

}  // namespace uct::ib
