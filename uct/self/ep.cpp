#include <cstring>

#include "ucs/memory/small_copy.hpp"
#include "uct/self/iface.hpp"

namespace uct {

ucs_status_t self_ep::am_short(am_id id, std::uint64_t header, const void* payload,
                               std::size_t length) {
    message_ring::record* message = begin(sizeof header + length);
    if (message == nullptr) return UCS_ERR_NO_RESOURCE;
    std::memcpy(message->data(), &header, sizeof header);
    ucs::memory::copy_bytes(message->data() + sizeof header, payload, length);
    messages_.commit(*message, id, sizeof header + length);
    count(sizeof header + length);
    return UCS_OK;
}

ssize_t self_ep::am_bcopy(am_id id, pack_function pack, void* arg) {
    message_ring::record* message = begin(self_iface::max_message);
    if (message == nullptr) return UCS_ERR_NO_RESOURCE;
    const std::size_t length = pack(arg, message->data(), self_iface::max_message);
    messages_.commit(*message, id, length);
    count(length);
    return static_cast<ssize_t>(length);
}

ucs_status_t self_ep::get_zcopy(std::span<const iov> into, const remote_place& from, completion*) {
    const auto* next = reinterpret_cast<const std::byte*>(from.address);
    for (const iov& piece : into) {
        // A worker may copy a buffer onto itself.
        if (piece.length > 0) std::memmove(piece.base, next, piece.length);
        next += piece.length;
    }
    count(total_length(into));
    return UCS_OK;
}

ucs_status_t self_ep::put_zcopy(std::span<const iov> from, const remote_place& to, completion*) {
    auto* next = reinterpret_cast<std::byte*>(to.address);
    for (const iov& piece : from) {
        if (piece.length > 0) std::memmove(next, piece.base, piece.length);
        next += piece.length;
    }
    count(total_length(from));
    return UCS_OK;
}

}  // namespace uct
