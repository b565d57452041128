// Handling of received datagrams. All of their content is untrusted.
#include <functional>

#include "ucs/type/allocated.hpp"
#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {
namespace {

constexpr std::size_t max_delayed = 4;  // datagrams that fault injection holds back

}  // namespace

unsigned iface::receive() noexcept {
    const std::span<const ibv_wc> batch = receives_.poll();
    for (const ibv_wc& each : batch) {
        ib::receive_buffer& buffer = ib::receive_buffer::of(each.wr_id);
        pool_->taken();
        ++count_.datagrams;
        if (each.status != IBV_WC_SUCCESS) [[unlikely]] {
            if (each.status != IBV_WC_WR_FLUSH_ERR) receive_failed(each.status);
            pool_->give_back(buffer);
            continue;
        }
        const arrival received{&buffer, each.byte_len, each.src_qp, each.slid,
                               (each.wc_flags & IBV_WC_GRH) != 0};
        if (faults_.any()) [[unlikely]] {
            take_with_faults(received);
        } else {
            take(received);
        }
    }
    if (batch.empty() && !delayed_.empty()) [[unlikely]]
        return release_delayed(true);
    return static_cast<unsigned>(batch.size());
}

void iface::take(const arrival& received) noexcept {
    if (!handle(received)) pool_->give_back(*received.buffer);
}

// Applies the injected faults to a datagram.
void iface::take_with_faults(arrival received) noexcept {
    const faults::fate fate = faults_.next();
    const bool room = delayed_.size() < max_delayed;
    received.overtaken_by = fate.overtaken_by;
    if (fate.lost) {
        pool_->give_back(*received.buffer);
    } else if (fate.overtaken_by > 0 && room) {
        delayed_.push_back(received);
    } else if (!fate.twice) {
        take(received);
    } else if (!handle(received) && !handle(received)) {
        pool_->give_back(*received.buffer);
    }
    release_delayed(false);
}

unsigned iface::release_delayed(bool all) noexcept {
    unsigned released = 0;
    for (std::size_t i = 0; i < delayed_.size();) {
        if (!all && delayed_[i].overtaken_by-- > 0) {
            ++i;
            continue;
        }
        const arrival due = delayed_[i];
        delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(i));
        take(due);
        ++released;
    }
    return released;
}

// Returns true if the buffer is kept.
bool iface::handle(const arrival& received) noexcept {
    if (received.length < wire::route_header) {
        malformed(received.from_pair, "its length");
        return false;
    }
    const auto found = wire::parse(
        {received.buffer->data() + wire::route_header, received.length - wire::route_header});
    if (!found) {
        malformed(received.from_pair, "its header");
        return false;
    }
    if (found->head.acknowledges != 0) take_acknowledgement(*found, received.from_pair);
    switch (found->head.type) {
        case wire::kind::data:
            return take_data(*found, received);
        case wire::kind::ack:
            break;
        case wire::kind::request:
        case wire::kind::resync:
            // Without memory the datagram is dropped, and the peer repeats it.
            static_cast<void>(ucs::allocated([&] { take_request(*found, received); }));
            break;
        case wire::kind::reply:
            take_reply(*found, received);
            break;
        case wire::kind::refuse:
            if (connection* const conn = find(found->head.to, received.from_pair)) {
                conn->protocol.on_refuse(psn(found->head.number), ucs::time::now());
                update(*conn);
            }
            break;
        case wire::kind::goodbye:
            static_cast<void>(ucs::allocated([&] { take_goodbye(*found, received); }));
            break;
        case wire::kind::ended:
            take_ended(*found, received);
            break;
    }
    return false;
}

bool iface::take_data(const wire::datagram& datagram, const arrival& from) noexcept {
    receiver* const rx = receivers_.find(datagram.head.to);
    if (rx == nullptr) {
        reply_unknown(datagram.head.to, source_of(from));
        return false;
    }
    if (rx->from().where.pair != from.from_pair) {
        malformed(from.from_pair, "who it says that it is from");
        return false;
    }
    if (closing_) return false;
    rx->heard = true;
    const psn number(datagram.head.number);
    const bool asks = (datagram.head.flags & wire::ack_now) != 0;
    using turn = receive_window<kept_packet>::turn;
    switch (rx->window.turn_of(number)) {
        case turn::now:
            pending_acks_.add(*rx, asks);
            take_turn(*rx, datagram);
            if (receivers_.kept() > 0) take_kept(*rx);
            return false;
        case turn::early: {
            // The packet is kept only if its message can be assembled later and enough buffers
            // remain for other senders.
            const bool possible = receivers_.may_keep(*rx, pool_->all() / 2) &&
                                  ((datagram.head.flags & wire::whole) == wire::whole ||
                                   rx->parts.reserve(longest_)) &&
                                  rx->window.keep(number, {from.buffer, from.length});
            pending_acks_.add(*rx, true);
            if (!possible) {
                ++count_.dropped;
                return false;
            }
            ++count_.early;
            receivers_.count_kept(*rx);
            return true;
        }
        case turn::again:
            ++count_.again;
            pending_acks_.add(*rx, true);
            return false;
        case turn::far:
            ++count_.dropped;
            pending_acks_.add(*rx, true);
            if (number - rx->window.expected() <= static_cast<int>(wire::most_window)) return false;
            wire::header head{};
            head.type = wire::kind::refuse;
            head.to = rx->source();
            head.number = rx->window.expected().value();
            send_control(rx->from(), head, {});
            return false;
    }
    return false;
}

void iface::take_turn(receiver& rx, const wire::datagram& datagram) noexcept {
    const bool first = (datagram.head.flags & wire::first) != 0;
    const bool last = (datagram.head.flags & wire::last) != 0;
    if (first && last && !rx.parts.is_open()) [[likely]] {
        rx.window.advance();
        ++count_.messages;
        return deliver_message(rx, datagram.head.id, datagram.body);
    }
    switch (rx.parts.add(first, last, datagram.body, longest_)) {
        case assembly::outcome::no_memory:
            ++count_.dropped;
            return;
        case assembly::outcome::malformed:
            rx.window.advance();
            return malformed(rx.from().where.pair, "the parts of a message");
        case assembly::outcome::part:
            return rx.window.advance();
        case assembly::outcome::whole:
            break;
    }
    rx.window.advance();
    ++count_.messages;
    deliver_message(rx, datagram.head.id, rx.parts.message());
}

void iface::deliver_message(const receiver& from, am_id id, std::span<std::byte> message) noexcept {
    delivering_ = {from.number(), message};
    deliver(id, message.data(), message.size());
    delivering_ = {};
}

std::uint64_t iface::connection_of(const peer_bytes& message) const noexcept {
    const std::less<const std::byte*> before;
    const std::span<const std::byte> delivered = delivering_.message;
    const bool is_of_it = !before(message.payload(), delivered.data()) &&
                          before(message.payload(), delivered.data() + delivered.size());
    return is_of_it ? delivering_.connection : 0;
}

// Delivers the kept packets that are next in order.
void iface::take_kept(receiver& rx) noexcept {
    for (;;) {
        const kept_packet next = rx.window.take();
        if (next.buffer == nullptr) return;
        receivers_.count_released(rx);
        const auto found = wire::parse(
            {next.buffer->data() + wire::route_header, next.length - wire::route_header});
        take_turn(rx, *found);
        pool_->give_back(*next.buffer);
    }
}

connection* iface::find(std::uint64_t id, std::uint32_t from_pair) noexcept {
    connection** const found = connections_.find(id);
    if (found == nullptr || (*found)->to().where.pair != from_pair) return nullptr;
    return *found;
}

void iface::take_acknowledgement(const wire::datagram& datagram, std::uint32_t from_pair) noexcept {
    connection* const conn = find(datagram.head.acknowledges, from_pair);
    if (conn == nullptr) return;  // its connection is removed
    const std::uint64_t beyond =
        datagram.head.type == wire::kind::ack ? wire::u64_in(datagram.body) : 0;
    packet_list done;
    conn->protocol.on_acknowledge(psn(datagram.head.expected), beyond, ucs::time::now(), done);
    update(*conn, done);
}

// The completion does not name the sender.
void iface::receive_failed(ibv_wc_status status) noexcept {
    ++count_.malformed;
    rejected().warn(ib_log, "{}: a datagram was not received: {}", where().device,
                    ibv_wc_status_str(status));
}

void iface::malformed(std::uint32_t from_pair, const char* why) noexcept {
    ++count_.malformed;
    rejected().warn(ib_log, "{}: a datagram of queue pair {:#x} was dropped for {}", where().device,
                    from_pair, why);
}

}  // namespace uct::ud
