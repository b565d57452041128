#include "tools/perf/uct/am_channel.hpp"

#include "tools/perf/uct/operations.hpp"

namespace tools::perf {
namespace {

constexpr uct::am_id message_id = 1;
constexpr uct::am_id acknowledgement_id = 2;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

}  // namespace

transport_am_channel::transport_am_channel(const transport_connection& conn, unsigned window,
                                           flow control)
    : conn_(conn),
      operation_(operation_of(conn.params, send_operation::copied_short)),
      validate_(conn.params.validate),
      size_(conn.params.message_size()),
      header_(header_of(conn.params)),
      credits_(control == flow::controlled ? conn.params.flow_window : never),
      report_after_(control == flow::controlled ? (conn.params.flow_window + 1) / 2 : never),
      slots_(window),
      memory_(memory_of_buffers(validate_ ? window : 1, size_)) {
    for (slot& each : slots_) {
        each.done = &transport_am_channel::on_sent;
        each.owner = this;
        each.count = 0;
    }
    conn_.link.iface().set_am_handler(message_id, {.deliver = &on_message, .arg = this});
    conn_.link.iface().set_am_handler(acknowledgement_id,
                                      {.deliver = &on_acknowledgement, .arg = this});
}

transport_am_channel::~transport_am_channel() {
    conn_.link.iface().set_am_handler(message_id, {});
    conn_.link.iface().set_am_handler(acknowledgement_id, {});
}

void transport_am_channel::on_message(void* arg, void* data, std::size_t length) {
    auto& self = *static_cast<transport_am_channel*>(arg);
    if (self.validate_) self.verify({static_cast<const std::byte*>(data), length});
    ++self.received_;
    self.receives_.ended_by_callback();
}

void transport_am_channel::on_acknowledgement(void* arg, void* data, std::size_t length) {
    auto& self = *static_cast<transport_am_channel*>(arg);
    if (length >= sizeof self.acknowledged_) {
        std::memcpy(&self.acknowledged_, data, sizeof self.acknowledged_);
    }
}

void transport_am_channel::on_sent(uct::completion& self) {
    static_cast<slot&>(self).owner->sends_.ended_by_callback();
}

std::size_t transport_am_channel::pack(void* arg, void* into, std::size_t) {
    const auto& message = *static_cast<const std::span<std::byte>*>(arg);
    if (!message.empty()) std::memcpy(into, message.data(), message.size());
    return message.size();
}

void transport_am_channel::send() {
    slot& message_slot = slots_[sent_ % slots_.size()];
    until([&] { return message_slot.count == 0 && sent_ - acknowledged_ < credits_; });
    std::span<std::byte> message(memory_);
    if (validate_) {
        message = message.subspan(sent_ % slots_.size() * size_, size_);
        pattern(conn_.part == side::responder ? 1 : 0, sent_).fill(message, 0);
    }
    ++sent_;
    message_slot.count = 1;
    message_slot.status = UCS_OK;
    sends_.started();
    ucs_status_t status = post(message_slot, message);
    while (status == UCS_ERR_NO_RESOURCE)
        [[unlikely]] {
            conn_.link.once();
            if (received_ - reported_ >= report_after_) send_acknowledgement();
            conn_.link.throw_if_failed();
            status = post(message_slot, message);
        }
    if (status == UCS_INPROGRESS) return;
    message_slot.count = 0;
    sends_.ended_at_once();
    conn_.link.require(name_of(operation_), status);
}

ucs_status_t transport_am_channel::post(slot& message_slot, std::span<std::byte> message) {
    uct::ep& ep = conn_.link.ep();
    switch (operation_) {
        case send_operation::copied_short: {
            std::uint64_t header = 0;
            std::memcpy(&header, message.data(), sizeof header);
            const auto payload = message.subspan(sizeof header);
            return ep.am_short(message_id, header, payload.data(), payload.size());
        }
        case send_operation::bcopy: {
            const ssize_t packed = ep.am_bcopy(message_id, &pack, &message);
            return packed < 0 ? static_cast<ucs_status_t>(packed) : UCS_OK;
        }
        case send_operation::zcopy:
            break;
    }
    const uct::iov payload{message.data() + header_, message.size() - header_};
    return ep.am_zcopy(message_id, message.first(header_), {&payload, 1}, &message_slot);
}

bool transport_am_channel::send_acknowledgement() {
    const std::uint64_t now = received_;
    const ucs_status_t status = conn_.link.ep().am_short(acknowledgement_id, now, nullptr, 0);
    if (status == UCS_ERR_NO_RESOURCE) return false;  // retried in the next turn
    conn_.link.require("am_short", status);
    reported_ = now;
    return true;
}

void transport_am_channel::acknowledge() {
    conn_.link.until([&] { return send_acknowledgement(); });
}

void transport_am_channel::verify(std::span<const std::byte> message) {
    if (!error_.empty()) return;
    if (message.size() != size_) {
        error_ = fmt::format("validation: message {} came as {} bytes where {} bytes were sent",
                             received_, message.size(), size_);
        return;
    }
    const pattern content(conn_.part == side::initiator ? 1 : 0, received_);
    const auto offset = content.find_difference(message, 0);
    if (!offset) return;
    error_ = fmt::format("validation: message {} is wrong at offset {} of {}", received_, *offset,
                         size_);
}

void transport_am_channel::throw_validation_error() const {
    throw failure(error_);
}

std::string transport_am_channel::describe_send() {
    return fmt::format("{} of {} bytes on {}", name_of(operation_), size_, conn_.link.name());
}

}  // namespace tools::perf
