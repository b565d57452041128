#include "uct/cuda/copy/copy_ep.hpp"

namespace uct::cuda {

namespace {

void* pointer(const remote_place& place) noexcept {
    return reinterpret_cast<void*>(place.address);
}

}  // namespace

ucs_status_t copy_ep::get_zcopy(std::span<const iov> into, const remote_place& from,
                                completion* done) {
    return start({.pieces = into, .place = from.address, .is_to_pieces = true}, done);
}

ucs_status_t copy_ep::put_zcopy(std::span<const iov> from, const remote_place& to,
                                completion* done) {
    return start({.pieces = from, .place = to.address, .is_to_pieces = false}, done);
}

ucs_status_t copy_ep::put_short(const void* from, std::size_t length, const remote_place& to) {
    const ucs_status_t status = copies_.copy_now(pointer(to), from, length);
    if (status == UCS_OK) count(length);
    return status;
}

ssize_t copy_ep::put_bcopy(pack_function pack, void* arg, const remote_place& to) {
    const ssize_t length = copies_.copy_packed(pack, arg, to.address);
    if (length >= 0) count(static_cast<std::size_t>(length));
    return length;
}

ucs_status_t copy_ep::get_bcopy(void* into, std::size_t length, const remote_place& from,
                                completion*) {
    const ucs_status_t status = copies_.copy_now(into, pointer(from), length);
    if (status == UCS_OK) count(length);
    return status;
}

}  // namespace uct::cuda
