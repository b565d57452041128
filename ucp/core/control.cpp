#include "ucp/core/control.hpp"

#include <cstring>

#include "ucp/core/log.hpp"
#include "ucp/core/peer.hpp"

namespace ucp {

namespace {

struct parts {
    std::span<const std::byte> header;
    std::span<const std::byte> body;
};

std::size_t pack(void* arg, void* into, std::size_t) {
    const auto& from = *static_cast<const parts*>(arg);
    std::memcpy(into, from.header.data(), from.header.size());
    if (!from.body.empty()) {
        std::memcpy(static_cast<std::byte*>(into) + from.header.size(), from.body.data(),
                    from.body.size());
    }
    return from.header.size() + from.body.size();
}

ssize_t try_send(peer& to, uct::am_id id, parts message) {
    return to.am().am_bcopy(id, pack, &message);
}

}  // namespace

control_message::control_message(peer& to, uct::am_id id, std::vector<std::byte> bytes) noexcept
    : pending_{.progress = progress, .pending_hook = {}},
      to_(to),
      id_(id),
      bytes_(std::move(bytes)) {
    to_.hold();
}

control_message::~control_message() {
    to_.release();
}

control_message& control_message::of(uct::pending_request& queued) noexcept {
    return *boost::intrusive::get_parent_from_member(&queued, &control_message::pending_);
}

void control_message::send(peer& to, uct::am_id id, std::span<const std::byte> header,
                           std::span<const std::byte> body) {
    const ssize_t sent = try_send(to, id, {header, body});
    if (sent >= 0) return;
    if (sent != UCS_ERR_NO_RESOURCE) {
        // The lane failed; its error is reported to the endpoints by the transport.
        ucs::log::debug(proto_log, "a control message to worker {:x} was lost with its lane",
                        to.uid());
        return;
    }
    std::vector<std::byte> copy(header.begin(), header.end());
    copy.insert(copy.end(), body.begin(), body.end());
    auto* queued = new control_message(to, id, std::move(copy));
    to.am().pending_add(queued->pending_);
}

bool control_message::is(const uct::pending_request& queued) noexcept {
    return queued.progress == progress;
}

void control_message::drop(uct::pending_request& queued) {
    delete &of(queued);
}

ucs_status_t control_message::progress(uct::pending_request& queued) {
    control_message* self = &of(queued);
    const ssize_t sent = try_send(self->to_, self->id_, {self->bytes_, {}});
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    delete self;
    return UCS_OK;
}

}  // namespace ucp
