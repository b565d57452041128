#include "uct/api/ep.hpp"

namespace uct {

ucs_status_t ep::am_short(am_id, std::uint64_t, const void*, std::size_t) {
    return UCS_ERR_UNSUPPORTED;
}

ssize_t ep::am_bcopy(am_id, pack_function, void*) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ep::am_zcopy(am_id, std::span<const std::byte>, std::span<const iov>, completion*) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ep::get_zcopy(std::span<const iov>, const remote_place&, completion*) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ep::put_zcopy(std::span<const iov>, const remote_place&, completion*) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ep::put_short(const void*, std::size_t, const remote_place&) {
    return UCS_ERR_UNSUPPORTED;
}

ssize_t ep::put_bcopy(pack_function, void*, const remote_place&) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ep::get_bcopy(void*, std::size_t, const remote_place&, completion*) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ep::atomic(const atomic_op&, const remote_place&, void*, completion*) {
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t ep::flush(completion*) {
    return UCS_OK;
}

void ep::describe(ucs::vfs::directory& into) const {
    into.file("peer_name", [this] { return peer_name(); });
}

}  // namespace uct
