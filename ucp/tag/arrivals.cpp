// Handlers of arriving tagged messages. All data here comes from a peer and is checked.
#include <cstring>
#include <new>
#include <utility>

#include "ucp/core/complete.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/eager/acknowledge.hpp"
#include "ucp/eager/assembler.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/proto/receive.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/proto/tables.hpp"
#include "ucp/rndv/exposed_buffer.hpp"
#include "ucp/rndv/receiver.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucp/tag/matcher.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

namespace {

// Shorter messages tell more about latency than about the transfer rate.
constexpr std::size_t observed_length = 12 * 1024;

void dropped(const char* description, std::uint64_t tag, std::uint64_t length) {
    ucs::log::debug(proto_log,
                    "{} of {} bytes with tag {:#x} was dropped: its endpoint was closed or failed",
                    description, length, tag);
}

// A peer can cause this error as often as it likes, so the log is throttled.
void out_of_memory(worker& owner, std::uint64_t tag, std::uint64_t length, const char* outcome) {
    owner.log().rejected().error(
        proto_log, "out of memory: a message of {} bytes with tag {:#x} {}", length, tag, outcome);
}

}  // namespace

// Adapts member functions to the function pointers that transports, the assembler and unexpected
// RTS messages call.
class tag_handlers {
public:
    static void add(worker& owner, assembly& into, const std::byte* data, std::size_t length) {
        slot_of<tag_matcher>(owner).add_fragment(into, data, length);
    }
    static void* locate(const assembly& into) noexcept {
        if (into.receiver == nullptr) return nullptr;
        const recv_state& state = into.receiver->state.recv;
        void* base = state.buffer.contiguous();
        if (base == nullptr || state.outcome != UCS_OK) return nullptr;
        return static_cast<std::byte*>(base) + into.received;
    }
    static void done(worker& owner, const assembly& whole) {
        slot_of<tag_matcher>(owner).finish_assembly(whole);
    }
    static void incomplete_lost(worker& owner, ep& from, const assembly& incomplete) {
        slot_of<tag_matcher>(owner).drop_incomplete(from, incomplete);
    }
    static void unexpected_rts_lost(worker& owner, ep& from, unexpected_rts& self) {
        slot_of<tag_matcher>(owner).drop_rts(from, static_cast<message&>(self));
    }
    template<void (tag_matcher::*Handler)(uct::peer_bytes)>
    static void deliver(void* arg, uct::peer_bytes message) {
        (static_cast<tag_matcher*>(arg)->*Handler)(message);
    }
    static void install(tag_matcher& self, uct::iface& iface) {
        using wire::id;
        handler_of<id::eager_only>::install<deliver<&tag_matcher::on_eager_only>>(iface, &self);
        handler_of<id::eager_first>::install<deliver<&tag_matcher::on_eager_first>>(iface, &self);
        handler_of<id::eager_ack>::install<deliver<&tag_matcher::on_eager_ack>>(iface, &self);
        handler_of<id::rndv_rts>::install<deliver<&tag_matcher::on_rts>>(iface, &self);
    }
};

namespace {

constexpr assembly_sink tag_sink{tag_handlers::add, tag_handlers::locate, tag_handlers::done,
                                 tag_handlers::incomplete_lost};

}  // namespace

void tag_matcher::deliver(request& receive, std::uint64_t tag, const void* data,
                          std::size_t length) {
    recv_state& state = receive.state.recv;
    state.info = {tag, length};
    finish_receive(receive, state.buffer.unpack(data, 0, length));
}

void tag_matcher::on_eager_only(uct::peer_bytes whole) {
    wire::eager_only_header header;
    if (!read_header(owner_, wire::eager_only, whole, header)) return;
    tag::expected_entry* posted = expected_.match(header.tag_or_id);
    if (posted != nullptr) [[likely]] {
        const uct::peer_bytes data = whole.after(sizeof header);
        deliver(request::of(static_cast<recv_state&>(*posted)), header.tag_or_id, data.payload(),
                data.size());
        return;
    }
    store_eager(header.tag_or_id, whole);
}

void tag_matcher::store_eager(std::uint64_t tag, uct::peer_bytes whole) {
    const uct::peer_bytes rest = whole.after(sizeof(wire::eager_only_header));
    const std::byte* const data = rest.payload();
    const std::size_t length = rest.size();
    message* stored = new_message(tag, message::kind::eager);
    if (stored == nullptr) {
        out_of_memory(owner_, tag, length, "was dropped");
        return;
    }
    stored->total = length;
    if (length <= message::inline_capacity) {
        stored->inline_length = length;
        std::memcpy(stored->inline_data, data, length);
    } else if (!stored->keep(0, data, length)) {
        give_up(*stored);
    }
    account(*stored, eager_window::message_cost + length, whole);
    queue(*stored);
}

void tag_matcher::give_up(message& stored) {
    out_of_memory(owner_, stored.tag, stored.total, "is not stored, its receive will fail");
    stored.status = UCS_ERR_NO_MEMORY;
    stored.fragments.clear();
    // Its sender need not wait for the receive.
    if (stored.request != 0) {
        acknowledge(stored.ep, std::exchange(stored.request, 0), UCS_ERR_NO_MEMORY);
    }
}

void tag_matcher::on_eager_first(uct::peer_bytes whole) {
    wire::eager_first_header header;
    if (!read_header(owner_, wire::eager_first, whole, header)) return;
    const std::size_t payload = whole.size() - sizeof header;
    if (payload > header.total || slot_of<assembler>(owner_).is_known(header)) {
        message_malformed(owner_, wire::eager_first, whole.size());
        return;
    }
    ep* from = owner_.endpoints().find(header.ep);
    if (payload < header.total && is_over(from)) {
        // Without an endpoint nothing would end the receive if the rest of the message never comes.
        if (from != nullptr && header.ack != 0) {
            answer_sync(*from, header.ack, UCS_ERR_CONNECTION_RESET);
        }
        dropped("the beginning of a message", header.tag_or_id, header.total);
        return;
    }
    start_assembly(from, header, whole);
}

// `from` may be null only if the whole message is here. If the matched or stored message has no
// memory for its rest, the rest is dropped.
void tag_matcher::start_assembly(ep* from, const wire::eager_first_header& header,
                                 uct::peer_bytes whole) {
    const uct::peer_bytes data = whole.after(sizeof header);
    const bool all = data.size() == header.total;
    assembly* rest =
        all ? nullptr : slot_of<assembler>(owner_).begin(*from, header, data.size(), tag_sink);
    if (tag::expected_entry* posted = expected_.match(header.tag_or_id)) {
        receive_first(request::of(static_cast<recv_state&>(*posted)), header, data.payload(),
                      data.size(), rest);
        return;
    }
    message* stored = store_first(header, whole);
    if (stored != nullptr && !all && rest == nullptr && stored->status == UCS_OK) {
        give_up(*stored);
    }
    if (rest == nullptr) return;
    if (stored == nullptr || stored->status != UCS_OK) {
        slot_of<assembler>(owner_).drop(*rest);
        return;
    }
    rest->stored = stored;
    stored->unfinished = rest;
    account(*stored, message::unfinished_cost, whole);
}

void tag_matcher::receive_first(request& receive, const wire::eager_first_header& header,
                                const std::byte* data, std::size_t length, assembly* rest) {
    recv_state& state = receive.state.recv;
    receive.flags.set(request_flags::matched);
    state.info = {header.tag_or_id, header.total};
    state.begin_transfer();
    const bool lost = rest == nullptr && length != header.total;
    if (lost) out_of_memory(owner_, header.tag_or_id, header.total, "cannot be received");
    staged_sink::attach(receive, state.buffer, header.total);
    if (header.ack != 0) acknowledge(header.ep, header.ack, lost ? UCS_ERR_NO_MEMORY : UCS_OK);
    state.outcome = lost                                     ? UCS_ERR_NO_MEMORY
                    : header.total > state.buffer.capacity() ? UCS_ERR_MESSAGE_TRUNCATED
                                                             : state.buffer.unpack(data, 0, length);
    if (rest == nullptr) {
        finish_receive(receive, state.outcome);
    } else {
        attach_assembly(receive, *rest);
    }
}

message* tag_matcher::store_first(const wire::eager_first_header& header,
                                  uct::peer_bytes whole) noexcept {
    const uct::peer_bytes data = whole.after(sizeof header);
    message* stored = new_message(header.tag_or_id, message::kind::eager);
    if (stored == nullptr) {
        out_of_memory(owner_, header.tag_or_id, header.total, "was dropped");
        if (header.ack != 0) acknowledge(header.ep, header.ack, UCS_ERR_NO_MEMORY);
        return nullptr;
    }
    stored->total = header.total;
    stored->ep = header.ep;
    stored->request = header.ack;
    if (!data.empty() && !stored->keep(0, data.payload(), data.size())) give_up(*stored);
    account(*stored, eager_window::message_cost + data.size(), whole);
    queue(*stored);
    return stored;
}

void tag_matcher::add_fragment(assembly& into, const std::byte* data, std::size_t length) {
    if (into.receiver != nullptr) {
        recv_state& state = into.receiver->state.recv;
        if (state.outcome == UCS_OK) {
            state.outcome = state.buffer.unpack(data, into.received, length);
        }
    } else if (into.stored != nullptr && into.stored->keep(into.received, data, length)) {
        account(*into.stored, message::fragment_cost + length, {data, length});
    } else if (into.stored != nullptr) {
        into.stored->unfinished = nullptr;
        give_up(*std::exchange(into.stored, nullptr));
    }
}

void tag_matcher::finish_assembly(const assembly& done) {
    request* receiver = done.receiver;
    if (receiver != nullptr && receiver->via != nullptr && done.total >= observed_length &&
        receiver->via->remote().lanes().is_open() &&
        receiver->via->remote().lanes().am_attr().reach == uct::scope::host) {
        const double took = static_cast<double>(ucs::time::now() - done.started) * 1e-9;
        slot_of<protocol_tables>(owner_).streaming.observe(done.total - done.first, took);
    }
    if (done.stored != nullptr) done.stored->unfinished = nullptr;
    if (receiver != nullptr) finish_receive(*receiver, receiver->state.recv.outcome);
}

void tag_matcher::on_eager_ack(uct::peer_bytes whole) {
    wire::ack_header header;
    if (!read_header(owner_, wire::eager_ack, whole, header)) return;
    request* send = find_send(owner_, header.request);
    if (send == nullptr) return;  // both sides may end the send at the same time
    if (!traits(send->state.send.kind).sync || send->state.send.proto->rendezvous) {
        owner_.log().rejected().warn(
            proto_log, "an acknowledgement names send {:x}, which does not wait for one: dropped",
            header.request);
        return;
    }
    eager_acknowledged(*send, wire::known_status(header.status));
}

void tag_matcher::on_rts(uct::peer_bytes whole) {
    wire::rts_header header;
    if (!read_header(owner_, wire::rndv_rts, whole, header)) return;
    ep* from = owner_.endpoints().find(header.ep);
    if (is_over(from)) {
        if (from != nullptr) send_ats(*from, header.request, UCS_ERR_CONNECTION_RESET);
        dropped("the RTS of a message", header.tag_or_id, header.total);
        return;
    }
    const uct::peer_bytes keys = whole.after(sizeof header);
    rts_info rts = read_rts(*from, header, {keys.payload(), keys.size()});
    tag::expected_entry* posted = expected_.match(header.tag_or_id);
    if (posted != nullptr) {
        request& receive = request::of(static_cast<recv_state&>(*posted));
        receive.flags.set(request_flags::matched);
        receive.state.recv.info = {header.tag_or_id, header.total};
        rendezvous(receive, header.ep, std::move(rts));
        note_sends_deferred(*from, header.stopped);
        return;
    }
    message* stored = new_message(header.tag_or_id, message::kind::rendezvous);
    if (stored == nullptr) {
        out_of_memory(owner_, header.tag_or_id, header.total, "was dropped");
        send_ats(*from, header.request, UCS_ERR_NO_MEMORY);
        return;
    }
    stored->total = header.total;
    stored->ep = header.ep;
    stored->request = header.request;
    stored->address = rts.address;
    stored->confirm = rts.confirm;
    stored->memory = std::move(rts.memory);
    stored->lost = tag_handlers::unexpected_rts_lost;
    slot_of<unexpected_rts_messages>(*from).list.push_back(*stored);
    const std::size_t for_keys = stored->memory != nullptr ? message::keys_cost(keys.size()) : 0;
    account(*stored, eager_window::message_cost + for_keys, whole);
    queue(*stored);
    note_sends_deferred(*from, header.stopped);
}

// The sender may be deferring the very message that a posted receive waits for. A sender that
// ignores its limit gains nothing: every RTS is stored and counted, and a sender with too many is
// cut off.
void tag_matcher::note_sends_deferred(const ep& sender, std::uint32_t round) noexcept {
    if (round == 0) return;
    slot_of<deferred_sends>(sender.remote()).on_peer_defers(sender.remote_id(), round);
    if (expected_.size() > 0) memory_.missed();
}

void tag_matcher::listen(uct::iface& iface) {
    tag_handlers::install(*this, iface);
}

}  // namespace ucp
