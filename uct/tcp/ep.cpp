#include "uct/tcp/ep.hpp"

#include <cstring>

#include "uct/tcp/connection.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

iface& ep::owner() const noexcept {
    return static_cast<iface&>(iface_);
}

ep::ep(iface& owner, connection& link) noexcept : base_ep(owner), link_(link) {}

ep::~ep() {
    link_.detach(*this);
}

ucs_status_t ep::am_short(am_id id, std::uint64_t header, const void* payload, std::size_t length) {
    const std::size_t body = sizeof header + length;
    if (must_queue() || !link_.can_send(wire::frame_size(body))) return link_.blocked_status();
    if (length > owner().attr().max_short) return UCS_ERR_INVALID_PARAM;
    std::byte* frame = owner().scratch();
    std::memcpy(frame + wire::frame_header_size, &header, sizeof header);
    if (length > 0) {
        std::memcpy(frame + wire::frame_header_size + sizeof header, payload, length);
    }
    const ucs_status_t status = link_.writer.send_frame(id, frame, body);
    if (status == UCS_OK) count(body);
    return status;
}

ssize_t ep::am_bcopy(am_id id, pack_function pack, void* arg) {
    const std::size_t capacity = owner().attr().max_bcopy;
    if (must_queue() || !link_.can_send(wire::frame_size(capacity))) return link_.blocked_status();
    std::byte* frame = owner().scratch();
    const std::size_t length = pack(arg, frame + wire::frame_header_size, capacity);
    const ucs_status_t status = link_.writer.send_frame(id, frame, length);
    if (status != UCS_OK) return status;
    count(length);
    return static_cast<ssize_t>(length);
}

ucs_status_t ep::am_zcopy(am_id id, std::span<const std::byte> header, std::span<const iov> payload,
                          completion* done) {
    if (must_queue() || !link_.can_send(0)) return link_.blocked_status();
    const iface_attr& limits = owner().attr();
    const std::size_t length = header.size() + total_length(payload);
    if (header.size() > limits.max_zcopy_header || payload.size() > limits.max_iov ||
        length > limits.max_zcopy) {
        return UCS_ERR_INVALID_PARAM;
    }
    const ucs_status_t status = link_.writer.send_zcopy(*this, id, header, payload, done);
    if (status == UCS_OK || status == UCS_INPROGRESS) count(length);
    return status;
}

ucs_status_t ep::flush(completion* done) {
    return link_.writer.flush(*this, done);
}

void ep::check() noexcept {
    link_.check_alive();
}

std::uint64_t ep::received() const noexcept {
    return link_.writer.socket.received();
}

std::string ep::peer_name() const {
    return link_.peer_name();
}

void ep::describe(ucs::vfs::directory& into) const {
    base_ep::describe(into);
    into.file("state", [this] { return std::string(name_of(link_.current_state())); });
}

}  // namespace uct::tcp
