#include "ucp/core/control.hpp"

#include <cstring>
#include <new>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucp {

namespace {

struct parts {
    std::span<const std::byte> header;
    std::span<const std::byte> body;
};

std::size_t pack(void* arg, void* into, std::size_t) noexcept {
    const auto& from = *static_cast<const parts*>(arg);
    std::memcpy(into, from.header.data(), from.header.size());
    if (!from.body.empty()) {
        std::memcpy(static_cast<std::byte*>(into) + from.header.size(), from.body.data(),
                    from.body.size());
    }
    return from.header.size() + from.body.size();
}

std::unique_ptr<std::byte[]> copy_of(parts message) noexcept {
    const std::size_t length = message.header.size() + message.body.size();
    std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[length]);
    if (copy != nullptr) pack(&message, copy.get(), length);
    return copy;
}

ssize_t try_send(uct::ep& over, uct::am_id id, parts message) {
    return over.am_bcopy(id, pack, &message);
}

}  // namespace

control_message::control_message(peer& to, const content& message,
                                 std::unique_ptr<std::byte[]> bytes) noexcept
    : pending_{.progress = progress, .pending_hook = {}},
      to_(to),
      id_(message.id),
      bytes_(std::move(bytes)),
      length_(message.header.size() + message.body.size()),
      sender_(message.sender) {
    to_.hold();
    to_.owner().limits().take(to_.owner().limits().waiting(), to_.waiting_share, cost());
}

control_message::~control_message() {
    to_.owner().limits().waiting().give_back(to_.waiting_share, cost());
    to_.release();
}

control_message& control_message::of(uct::pending_request& queued) noexcept {
    return *boost::intrusive::get_parent_from_member(&queued, &control_message::pending_);
}

std::uint64_t control_message::cost() const noexcept {
    return ucs::sys::heap_cost(sizeof *this) + ucs::sys::heap_cost(length_);
}

bool control_message::send(peer& to, uct::ep& over, const content& message) noexcept {
    const ssize_t sent = try_send(over, message.id, {message.header, message.body});
    if (sent != UCS_ERR_NO_RESOURCE) message.sender.end(to.owner());
    if (sent >= 0) return true;
    if (sent != UCS_ERR_NO_RESOURCE) {
        // The lane failed; the transport reports that to the endpoints.
        ucs::log::debug(proto_log, "a control message ({}) to worker {:x} was lost with its lane",
                        name_of(message.id), to.uid());
        return true;
    }
    uct::pending_request* const queued = hold(to, message);
    if (queued == nullptr) return false;
    of(*queued).over_ = &over;
    over.pending_add(*queued);
    return true;
}

uct::pending_request* control_message::hold(peer& to, const content& message) noexcept {
    auto copy = copy_of({message.header, message.body});
    if (copy == nullptr) return nullptr;
    auto* const made = new (std::nothrow) control_message(to, message, std::move(copy));
    return made == nullptr ? nullptr : &made->pending_;
}

void control_message::release(uct::pending_request& held, uct::ep& over) noexcept {
    of(held).over_ = &over;
    if (progress(held) == UCS_ERR_NO_RESOURCE) over.pending_add(held);
}

bool control_message::is_control(const uct::pending_request& queued) noexcept {
    return queued.progress == progress;
}

void control_message::drop(uct::pending_request& queued, bool is_stopped) {
    const control_message& gone = of(queued);
    worker& owner = gone.to_.owner();
    const control_sender sender = gone.sender_;
    delete &gone;
    sender.end(owner, is_stopped);
}

ucs_status_t control_message::progress(uct::pending_request& queued) noexcept {
    const control_message* self = &of(queued);
    const ssize_t sent =
        try_send(*self->over_, self->id_, {{self->bytes_.get(), self->length_}, {}});
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    drop(queued);
    return UCS_OK;
}

}  // namespace ucp
