// Handlers of arriving active messages. All data here comes from a peer and is checked.
#include <algorithm>
#include <cstring>

#include "ucp/am/receiver.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/eager/assembler.hpp"
#include "ucp/log/log.hpp"
#include "ucp/rndv/receiver.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

// Adapts member functions to the function pointers that transports, the assembler and unexpected
// RTS messages call.
class am_adapters {
public:
    template<void (am_receiver::*Handler)(const std::byte*, std::size_t)>
    static void deliver(void* arg, uct::peer_bytes message) {
        (static_cast<am_receiver*>(arg)->*Handler)(message.payload(), message.size());
    }
    static void add(worker&, assembly& into, const std::byte* data, std::size_t length) {
        std::memcpy(into.block->data() + into.received, data, length);
    }
    static void* locate(const assembly& into) noexcept {
        return into.block->data() + into.received;
    }
    static void done(worker& owner, const assembly& all) {
        slot_of<am_receiver>(owner).complete(*all.block);
    }
    static void incomplete_lost(worker& owner, ep&, const assembly& incomplete) {
        slot_of<am_receiver>(owner).consume(*incomplete.block);
    }
    // The endpoint to the sender failed, or this side closed it. A sender that is alive waits for a
    // reply, so it is notified.
    static void unexpected_rts_lost(worker&, ep& from, unexpected_rts& self) {
        auto& block = static_cast<am_block&>(self);
        block.lost_status = UCS_ERR_CONNECTION_RESET;
        send_ats(from, block.rts.request, UCS_ERR_CONNECTION_RESET);
    }
};

namespace {

constexpr assembly_sink am_sink{am_adapters::add, am_adapters::locate, am_adapters::done,
                                am_adapters::incomplete_lost};

// Reads the parts of one message in order.
class parts {
public:
    parts(const std::byte* data, std::size_t length) noexcept : rest_(data, length) {}

    template<class Header>
    [[nodiscard]] bool read(Header& into) noexcept {
        if (rest_.size() < sizeof into) return false;
        uct::peer_bytes(rest_.data(), rest_.size()).read(into);
        rest_ = rest_.subspan(sizeof into);
        return true;
    }
    // Skips the program's header, with its padding if data follows.
    [[nodiscard]] bool skip_header(std::size_t length) noexcept {
        if (rest_.size() < length || length > wire::am_longest_header) return false;
        header_ = rest_.data();
        rest_ = rest_.subspan(std::min(rest_.size(), wire::padded_length(length)));
        return true;
    }
    [[nodiscard]] const std::byte* header() const noexcept { return header_; }
    [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

private:
    std::span<const std::byte> rest_;
    const std::byte* header_ = nullptr;
};

ep* reply_endpoint_of(wire::am_fields fields, ep* from) noexcept {
    return (fields.flags & wire::am_reply) != 0 ? from : nullptr;
}

void log_dropped(const char* description, wire::am_fields fields, std::uint64_t length) {
    ucs::log::debug(proto_log,
                    "{} of {} bytes for handler {} was dropped: its endpoint was closed or failed",
                    description, length, fields.id);
}

// A peer can cause this error as often as it likes, so the log is throttled.
void log_out_of_memory(worker& owner, wire::am_fields fields, std::uint64_t length) {
    owner.log().rejected().error(
        proto_log, "out of memory: an active message of {} bytes for handler {} is lost", length,
        fields.id);
}

void log_over_limit(worker& owner, wire::am_fields fields, std::uint64_t length) {
    owner.log().rejected().error(
        proto_log,
        "an active message of {} bytes for handler {} was dropped: its sender "
        "has begun more messages than there is memory for",
        length, fields.id);
}

}  // namespace

void am_receiver::log_no_handler(wire::am_fields fields, std::size_t length) {
    owner_.log().rejected().warn(
        proto_log,
        "an active message of {} bytes for id {} was dropped: no handler is set "
        "for it, see ucp_worker_set_am_recv_handler",
        length, fields.id);
}

void am_receiver::on_only(const std::byte* data, std::size_t length) {
    parts message(data, length);
    wire::am_fields fields;
    std::uint64_t reply_id = 0;
    if (!message.read(fields) ||
        ((fields.flags & wire::am_reply) != 0 && !message.read(reply_id)) ||
        !message.skip_header(fields.header_length)) {
        message_malformed(owner_, wire::am_only, length);
        return;
    }
    const am_handler handler = handlers_.find(fields.id);
    if (!handler.is_set()) {
        log_no_handler(fields, message.rest().size());
        return;
    }
    ep* const from = reply_id == 0 ? nullptr : owner_.endpoints().find(reply_id);
    if ((fields.flags & wire::am_reply) != 0 && is_over(from)) {
        log_dropped("an active message", fields, message.rest().size());
        return;
    }
    deliver(handler, {fields, message.header(), from}, message.rest());
}

void am_receiver::deliver(const am_handler& handler, const arrival& message,
                          std::span<const std::byte> data) {
    const bool in_place = !handler.persistent && blocks_.is_aligned(data.data());
    if (data.empty() || in_place) [[likely]] {
        // The handler gets the transport's own memory, and may write to it.
        const ucs_status_t status =
            call(handler, message, const_cast<std::byte*>(data.data()), data.size(), 0);
        if (status == UCS_INPROGRESS) {
            ucs::log::error(proto_log,
                            "the handler of active message {} wants to keep data that it may not "
                            "keep: UCP_AM_RECV_ATTR_FLAG_DATA was not set",
                            message.fields.id);
        }
        return;
    }
    am_block* const block = blocks_.get(data.size());
    if (block == nullptr) {
        log_out_of_memory(owner_, message.fields, data.size());
        return;
    }
    std::memcpy(block->data(), data.data(), data.size());
    deliver(handler, message, *block);
}

void am_receiver::deliver(const am_handler& handler, const arrival& message, am_block& block) {
    const ucs_status_t status =
        call(handler, message, block.data(), block.length, UCP_AM_RECV_ATTR_FLAG_DATA);
    if (status == UCS_INPROGRESS && block.state == am_block::use::in_handler) {
        block.state = am_block::use::kept;
        kept_.push_back(block);
    } else {
        consume(block);
    }
}

void am_receiver::on_first(const std::byte* data, std::size_t length) {
    parts message(data, length);
    wire::eager_first_header header;
    if (!message.read(header) ||
        !message.skip_header(wire::to_am_fields(header.tag_or_id).header_length) ||
        message.rest().size() > header.total || slot_of<assembler>(owner_).is_known(header)) {
        message_malformed(owner_, wire::am_first, length);
        return;
    }
    const wire::am_fields fields = wire::to_am_fields(header.tag_or_id);
    const std::span<const std::byte> first = message.rest();
    ep* const from = owner_.endpoints().find(header.ep);
    if (is_over(from)) {
        log_dropped("the beginning of an active message", fields, header.total);
        return;
    }
    if (!handlers_.find(fields.id).is_set()) {
        log_no_handler(fields, header.total);
        return;
    }
    const bool all_here = first.size() == header.total;
    std::uint64_t cost = 0;
    if (!all_here) {
        cost = blocks_.cost_of(header.total, fields.header_length) + assembler::cost_of_message;
        if (!make_room(from->remote(), cost)) return log_over_limit(owner_, fields, header.total);
        if (wireup::is_incoming_over(*from)) {  // make_room() called the program, which closed it
            log_dropped("the beginning of an active message", fields, header.total);
            return;
        }
    }
    am_block* const block = blocks_.get(header.total, fields.header_length);
    assembly* rest = nullptr;
    if (block != nullptr && !all_here) {
        rest = slot_of<assembler>(owner_).begin(*from, header, first.size(), am_sink);
    }
    if (block == nullptr || (rest == nullptr && !all_here)) {
        if (block != nullptr) blocks_.put(*block);
        log_out_of_memory(owner_, fields, header.total);
        return;
    }
    block->fields = fields;
    block->from = header.ep;
    if (!first.empty()) std::memcpy(block->data(), first.data(), first.size());
    if (fields.header_length > 0) {
        std::memcpy(block->header(), message.header(), fields.header_length);
    }
    if (all_here) {
        complete(*block);
    } else {
        rest->block = block;
        charge(*block, from->remote(), cost);
    }
}

void am_receiver::complete(am_block& block) {
    discharge(block);
    const am_handler handler = handlers_.find(block.fields.id);
    ep* const from = owner_.endpoints().find(block.from);
    if (!handler.is_set() || is_over(from)) {
        consume(block);
        return;
    }
    deliver(handler, {block.fields, block.header(), reply_endpoint_of(block.fields, from)}, block);
}

void am_receiver::on_rts(const std::byte* data, std::size_t length) {
    parts message(data, length);
    wire::rts_header header;
    if (!message.read(header) || header.request == 0 || header.total == 0 ||
        !message.skip_header(wire::to_am_fields(header.tag_or_id).header_length)) {
        message_malformed(owner_, wire::am_rts, length);
        return;
    }
    const wire::am_fields fields = wire::to_am_fields(header.tag_or_id);
    ep* const from = owner_.endpoints().find(header.ep);
    if (is_over(from)) {
        if (from != nullptr) send_ats(*from, header.request, UCS_ERR_CONNECTION_RESET);
        log_dropped("the RTS of an active message", fields, header.total);
        return;
    }
    const am_handler handler = handlers_.find(fields.id);
    if (!handler.is_set()) {
        log_no_handler(fields, header.total);
        send_ats(*from, header.request, UCS_ERR_INVALID_PARAM);
        return;
    }
    const arrival arrived{fields, message.header(), reply_endpoint_of(fields, from)};
    rts_info rts = read_rts(*from, header, message.rest());
    if (handler.whole) {
        fetch(arrived, *from, std::move(rts));
    } else {
        deliver_rts(handler, arrived, *from, std::move(rts));
    }
}

void am_receiver::deliver_rts(const am_handler& handler, const arrival& message, ep& from,
                              rts_info rts) {
    am_block* const block = blocks_.get(0);
    if (block == nullptr) {
        log_out_of_memory(owner_, message.fields, rts.total);
        send_ats(from, rts.request, UCS_ERR_NO_MEMORY);
        return;
    }
    block->length = rts.total;
    block->from = from.id();
    block->fields = message.fields;
    block->rts = std::move(rts);
    block->lost = am_adapters::unexpected_rts_lost;
    slot_of<unexpected_rts_messages>(from).list.push_back(*block);
    const ucs_status_t status =
        call(handler, message, block->data(), block->length, UCP_AM_RECV_ATTR_FLAG_RNDV);
    if (block->state == am_block::use::returned) {
        consume(*block);
    } else if (status == UCS_INPROGRESS) {
        block->state = am_block::use::kept;
        kept_.push_back(*block);
    } else {
        // The program does not want the data. The sender's request ends with the handler's status,
        // which is UCS_OK if the program drops the data.
        block->state = am_block::use::kept;
        refuse(*block, status);
    }
}

bool am_receiver::make_room(peer& sender, std::uint64_t bytes) {
    if (arriving_.has_room_for(bytes)) return true;
    // No peer's share is larger than largest_share_. If the sender's share would become the
    // largest, its message is dropped at once. So a peer that sends without end does not cause a
    // search through all peers with each message.
    const std::uint64_t wanted = slot_of<peer_arriving>(sender).share.used() + bytes;
    if (largest_share_ <= wanted) return false;
    peer* const most = owner_.peers().find_with_most(
        [](const peer& each) -> const limit_share& { return slot_of<peer_arriving>(each).share; });
    ++searches_;
    largest_share_ = most == nullptr ? 0 : slot_of<peer_arriving>(*most).share.used();
    if (most == &sender || largest_share_ <= wanted) return false;
    owner_.log().rejected().warn(
        proto_log,
        "worker {:x} has begun active messages of {} bytes and not finished "
        "them, which leaves no memory for those of worker {:x}; its endpoints "
        "fail",
        most->uid(), slot_of<peer_arriving>(*most).share.used(), sender.uid());
    most->fail_for_limit();
    return arriving_.has_room_for(bytes);
}

void am_receiver::charge(am_block& block, peer& sender, std::uint64_t bytes) noexcept {
    block.sender = &sender;
    block.charged = bytes;
    sender.hold();
    arriving_.take(slot_of<peer_arriving>(sender).share, bytes);
    largest_share_ = std::max(largest_share_, slot_of<peer_arriving>(sender).share.used());
}

void am_receiver::discharge(am_block& block) noexcept {
    peer* const sender = std::exchange(block.sender, nullptr);
    if (sender == nullptr) return;
    arriving_.give_back(slot_of<peer_arriving>(*sender).share, block.charged);
    sender->release();
}

void am_receiver::move_charge(peer& sender, am_block& block) noexcept {
    if (block.sender == nullptr) return;
    discharge(block);
    charge(block, sender, block.charged);
}

void am_receiver::charge_to(peer& sender, const assembly& begun) noexcept {
    if (begun.block != nullptr) move_charge(sender, *begun.block);
}

void am_receiver::charge_to(peer& sender, const request& receive) noexcept {
    const bool is_fetch =
        receive.kind == request_kind::recv_data && receive.callback.recv_data == fetched;
    if (is_fetch) move_charge(sender, *static_cast<am_block*>(receive.user_data));
}

// Allocates memory for the whole message before its data arrives. Calls make_room() first, because
// a peer may send any number of RTS messages.
void am_receiver::fetch(const arrival& message, ep& from, rts_info rts) {
    const std::uint64_t cost =
        blocks_.cost_of(rts.total, message.fields.header_length) + owner_.requests().cost();
    const bool fits = make_room(from.remote(), cost);
    if (wireup::is_incoming_over(from)) {  // make_room() called the program, which closed it
        send_ats(from, rts.request, UCS_ERR_CONNECTION_RESET);
        log_dropped("the RTS of an active message", message.fields, rts.total);
        return;
    }
    am_block* const block = fits ? blocks_.get(rts.total, message.fields.header_length) : nullptr;
    request* const receive = block == nullptr ? nullptr : owner_.requests().get();
    if (receive == nullptr) {
        if (block != nullptr) blocks_.put(*block);
        log_out_of_memory(owner_, message.fields, rts.total);
        send_ats(from, rts.request, UCS_ERR_NO_MEMORY);
        return;
    }
    block->fields = message.fields;
    block->from = from.id();
    if (message.fields.header_length > 0) {
        std::memcpy(block->header(), message.header, message.fields.header_length);
    }
    receive->flags.assign(request_flags::internal | request_flags::has_callback |
                          request_flags::matched);
    receive->status = UCS_INPROGRESS;
    receive->owner = &owner_;
    receive->callback.recv_data = fetched;
    receive->user_data = block;
    recv_state& state = receive->start_recv(request_kind::recv_data);
    state.buffer.init(block->data(), rts.total, ucp_dt_make_contig(1));
    state.info = {0, rts.total};
    state.begin_transfer();
    charge(*block, from.remote(), cost);
    receive->via = &from;
    from.operations().add_receive(*receive);
    rndv_receive(*receive, from, std::move(rts));
}

void am_receiver::fetched(void* handle, ucs_status_t status, std::size_t, void* arg) {
    am_receiver& self = slot_of<am_receiver>(*request::of(handle).owner);
    am_block& block = *static_cast<am_block*>(arg);
    if (status == UCS_OK) {
        self.complete(block);
    } else {
        self.consume(block);
    }
}

void am_receiver::listen(uct::iface& iface) {
    using wire::id;
    handler_of<id::am_only>::install<am_adapters::deliver<&am_receiver::on_only>>(iface, this);
    handler_of<id::am_first>::install<am_adapters::deliver<&am_receiver::on_first>>(iface, this);
    handler_of<id::am_rts>::install<am_adapters::deliver<&am_receiver::on_rts>>(iface, this);
}

}  // namespace ucp
