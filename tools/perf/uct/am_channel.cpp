#include "tools/perf/uct/am_channel.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "tools/perf/core/memory_limit.hpp"
#include "tools/perf/uct/operations.hpp"

namespace tools::perf {
namespace {

constexpr uct::am_id message_id = 1;
constexpr uct::am_id acknowledgement_id = 2;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

}  // namespace

transport_am_channel::transport_am_channel(const transport_connection& on, unsigned window,
                                           flow control)
    : on_(on),
      operation_(operation_of(on.params, send_operation::copied_short)),
      validate_(on.params.validate),
      size_(on.params.message_size()),
      header_(header_of(on.params)),
      credits_(control == flow::controlled ? on.params.flow_window : never),
      tell_after_(control == flow::controlled ? (on.params.flow_window + 1) / 2 : never),
      slots_(window),
      memory_(memory_of_buffers(validate_ ? window : 1, size_)) {
    for (slot& each : slots_) {
        each.done = &transport_am_channel::on_sent;
        each.owner = this;
        each.count = 0;
    }
    on_.over.iface().set_am_handler(message_id, {.deliver = &on_message, .arg = this});
    on_.over.iface().set_am_handler(acknowledgement_id,
                                    {.deliver = &on_acknowledgement, .arg = this});
}

transport_am_channel::~transport_am_channel() {
    on_.over.iface().set_am_handler(message_id, {});
    on_.over.iface().set_am_handler(acknowledgement_id, {});
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
    slot& with = slots_[sent_ % slots_.size()];
    until([&] { return with.count == 0 && sent_ - acknowledged_ < credits_; });
    std::span<std::byte> message(memory_);
    if (validate_) {
        message = message.subspan(sent_ % slots_.size() * size_, size_);
        pattern(on_.part == side::responder ? 1 : 0, sent_).fill(message, 0);
    }
    ++sent_;
    with.count = 1;
    with.status = UCS_OK;
    sends_.started();
    ucs_status_t status = post(with, message);
    while (status == UCS_ERR_NO_RESOURCE)
        [[unlikely]] {
            on_.over.once();
            if (received_ - told_ >= tell_after_) tell_what_came();
            on_.over.throw_if_failed();
            status = post(with, message);
        }
    if (status == UCS_INPROGRESS) return;
    with.count = 0;
    sends_.ended_at_once();
    on_.over.require(name_of(operation_), status);
}

ucs_status_t transport_am_channel::post(slot& with, std::span<std::byte> message) {
    uct::ep& ep = on_.over.ep();
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
    return ep.am_zcopy(message_id, message.first(header_), {&payload, 1}, &with);
}

bool transport_am_channel::tell_what_came() {
    const std::uint64_t now = received_;
    const ucs_status_t status = on_.over.ep().am_short(acknowledgement_id, now, nullptr, 0);
    if (status == UCS_ERR_NO_RESOURCE) return false;  // next turn
    on_.over.require("am_short", status);
    told_ = now;
    return true;
}

void transport_am_channel::acknowledge() {
    on_.over.until([&] { return tell_what_came(); });
}

void transport_am_channel::verify(std::span<const std::byte> message) {
    if (!wrong_.empty()) return;
    if (message.size() != size_) {
        wrong_ = fmt::format("validation: message {} came as {} bytes where {} bytes were sent",
                             received_, message.size(), size_);
        return;
    }
    const pattern content(on_.part == side::initiator ? 1 : 0, received_);
    const auto offset = content.find_difference(message, 0);
    if (!offset) return;
    wrong_ = fmt::format("validation: message {} is wrong at offset {} of {}", received_, *offset,
                         size_);
}

void transport_am_channel::throw_if_wrong() const {
    throw failure(wrong_);
}

std::string transport_am_channel::describe_send() {
    return fmt::format("{} of {} bytes on {}", name_of(operation_), size_, on_.over.name());
}

}  // namespace tools::perf
