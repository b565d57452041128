// Sending of packets, requests and acknowledgements, and their completions.
#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {

void iface::submit(connection& conn, packet& fresh, am_id id, std::uint8_t flags) noexcept {
    // The connection failed at an earlier part of the same message.
    if (conn.dismantled) [[unlikely]]
        return transmitter::put_back(fresh);
    fresh.conn = &conn;
    wire::header head{};
    head.version = wire::version;
    head.type = wire::kind::data;
    head.id = id;
    head.flags = flags;
    fresh.set_head(head);
    conn.protocol.window.add(fresh);
    if (fresh.from_memory) ++conn.open_operations;
    if (conn.protocol.current_state() == sender::state::idle) [[unlikely]] {
        conn.protocol.start();
        if (const ucs_status_t status = resolve_address_handle(conn.to()); status != UCS_OK) {
            ucs::log::error(ib_log, "{}: there is no path to {}: {}", where().device,
                            conn.endpoint->peer_name(), ucs_status_string(status));
            conn.protocol.fail(status);
            return update(conn);
        }
    }
    send_now(conn);
}

void iface::send_now(connection& conn) noexcept {
    const auto question = conn.protocol.pending_request();
    tx_packet* next = conn.protocol.next_to_send();
    if (!question && next == nullptr) return;
    const ucs::time::nanoseconds now = ucs::time::now();
    bool all = !question || send_request(conn, now);
    for (; next != nullptr && all; next = conn.protocol.next_to_send()) {
        if (!transmitter_.has_room()) {
            all = false;
            break;
        }
        transmit(conn, static_cast<packet&>(*next), now);
    }
    if (!all) queue_for_send(conn);
    schedule_timer(conn);
}

void iface::transmit(connection& conn, packet& packet, ucs::time::nanoseconds now) noexcept {
    wire::header head = packet.head();
    // A packet that the device may be reading is not changed. Its old header still serves.
    if (!transmitter_.reads(packet) || head.to != conn.protocol.remote()) {
        head.to = conn.protocol.remote();
        head.number = packet.number.value();
        const bool now_wanted =
            packet.from_memory || packet.sends > 0 || conn.protocol.window.is_last_allowed();
        head.flags = static_cast<std::uint8_t>(now_wanted ? head.flags | wire::ack_now
                                                          : head.flags & ~wire::ack_now);
        fill_acknowledgement(head, conn.to());
        packet.set_head(head);
    }
    transmitter_.post(packet, conn.to(), false);
    conn.protocol.note_sent(packet, now);
}

// Lets the datagram carry an acknowledgement for its receiver.
void iface::fill_acknowledgement(wire::header& head, peer& to) noexcept {
    head.acknowledges = 0;
    head.expected = 0;
    receiver* const pending_ack = to.pending_ack;
    if (pending_ack == nullptr) return;
    head.acknowledges = pending_ack->source();
    head.expected = pending_ack->window.expected().value();
    if (pending_ack->window.beyond() != 0)
        return;  // packets out of order need an `ack` of their own
    pending_acknowledgements::settle(*pending_ack);
}

bool iface::send_request(connection& conn, ucs::time::nanoseconds now) noexcept {
    const auto request = conn.protocol.pending_request();
    std::array<std::byte, wire::hello::size> body;
    const auto timeout = static_cast<std::uint32_t>(options_.timeout.seconds + 1);
    wire::hello{own_, conn.id, request->count, timeout}.pack(body);
    wire::header head{};
    head.type = request->type;
    head.number = request->number.value();
    head.to = conn.protocol.remote();
    if (!send_control(conn.to(), head, body)) return false;
    conn.protocol.request_sent(now);
    return true;
}

bool iface::send_control(peer& to, wire::header head, std::span<const std::byte> body) noexcept {
    if (!transmitter_.has_room() || to.address_handle == nullptr) return false;
    bounce* const made = transmitter_.get_bounce();
    if (made == nullptr) return false;
    head.version = wire::version;
    made->set_head(head);
    if (!body.empty()) std::memcpy(made->body(), body.data(), body.size());
    made->length = static_cast<std::uint32_t>(wire::header_size + body.size());
    // A closing interface waits for the completion of its last datagrams.
    transmitter_.post(*made, to, closing_ || head.type == wire::kind::goodbye);
    transmitter_.retire(*made);
    return true;
}

bool iface::send_acknowledgement(receiver& to) noexcept {
    wire::header head{};
    head.type = wire::kind::ack;
    head.acknowledges = to.source();
    head.expected = to.window.expected().value();
    const std::uint64_t beyond = to.window.beyond();
    if (!send_control(to.from(), head, std::as_bytes(std::span(&beyond, 1)))) return false;
    ++count_.acknowledgements;
    return true;
}

void iface::acknowledge(bool all) noexcept {
    while (receiver* const next = pending_acks_.next(!all)) {
        if (!send_acknowledgement(*next)) return;  // no free work request now
        pending_acknowledgements::settle(*next);
    }
}

void iface::update(connection& conn) noexcept {
    packet_list nothing;
    update(conn, nothing);
}

void iface::update(connection& conn, packet_list& done) noexcept {
    while (!done.empty()) {
        auto& each = static_cast<packet&>(done.front());
        done.pop_front();
        transmitter_.retire(each);
    }
    lingering_.note(conn);
    if (conn.protocol.current_state() == sender::state::failed) return dismantle(conn);
    if (!conn.flushes.empty()) end_flushes(conn, conn.protocol.window.oldest(), UCS_OK);
    send_now(conn);
    schedule_timer(conn);
}

void iface::dismantle(connection& failed) noexcept {
    if (failed.dismantled) return;
    failed.dismantled = true;
    packet_list left;
    failed.protocol.window.abandon(left);
    while (!left.empty()) {
        auto& each = static_cast<packet&>(left.front());
        left.pop_front();
        if (each.from_memory) static_cast<direct&>(each).status = failed.protocol.error();
        transmitter_.retire(each);
    }
    end_flushes(failed, failed.protocol.window.next(), failed.protocol.error());
    failed.timer_hook.unlink();
    failed.send_queue_hook.unlink();
    report_if_done(failed);
}

// The failure of an endpoint is reported after all of its operations have ended.
void iface::report_if_done(connection& failed) noexcept {
    if (failed.dismantled && failed.open_operations == 0 && failed.endpoint != nullptr) {
        note_failure(*failed.endpoint, failed.protocol.error());
    }
}

void iface::flush(connection& conn, flush_op& waiting) noexcept {
    waiting.conn = &conn;
    waiting.last = conn.protocol.window.next();
    ++conn.open_operations;
    conn.flushes.push_back(waiting);
    if (conn.protocol.window.empty()) end_flushes(conn, waiting.last, UCS_OK);
}

// Ends all flushes that wait for packets before `before`.
void iface::end_flushes(connection& conn, psn before, ucs_status_t status) noexcept {
    while (!conn.flushes.empty() && conn.flushes.front().last - before <= 0) {
        flush_op& first = conn.flushes.front();
        conn.flushes.pop_front();
        first.status = status;
        ended_flushes_.push_back(first);
        note_work();
    }
}

void iface::check(connection& conn) noexcept {
    conn.protocol.check();
    update(conn);
}

unsigned iface::complete_ended() noexcept {
    unsigned completed = 0;
    for (; !transmitter_.ended().empty(); ++completed) {
        auto& first = static_cast<direct&>(transmitter_.ended().front());
        transmitter_.ended().pop_front();
        complete(first);
    }
    for (; !ended_flushes_.empty(); ++completed) {
        flush_op& first = ended_flushes_.front();
        ended_flushes_.pop_front();
        complete(first);
    }
    return completed;
}

void iface::complete(direct& ended) noexcept {
    completion* const waiting = std::exchange(ended.done, nullptr);
    const ucs_status_t status = std::exchange(ended.status, UCS_OK);
    connection* const conn = ended.conn;
    transmitter::put_back(ended);
    --conn->open_operations;
    report_if_done(*conn);
    if (waiting != nullptr) waiting->finish(status);
}

void iface::complete(flush_op& ended) noexcept {
    const std::unique_ptr<flush_op> last(&ended);
    --last->conn->open_operations;
    report_if_done(*last->conn);
    last->done->finish(last->status);
}

void iface::queue_for_send(connection& conn) noexcept {
    if (!conn.send_queue_hook.is_linked()) send_queue_.push_back(conn);
}

void iface::send_queued() noexcept {
    send_queue taken;
    taken.swap(send_queue_);
    while (!taken.empty() && transmitter_.has_room()) {
        connection& each = taken.front();
        taken.pop_front();
        send_now(each);
    }
    send_queue_.splice(send_queue_.end(), taken);
}

void iface::schedule_timer(connection& conn) noexcept {
    const ucs::time::nanoseconds deadline = conn.protocol.deadline();
    if (deadline == 0) return conn.timer_hook.unlink();
    if (!conn.timer_hook.is_linked()) timed_.push_back(conn);
    if (next_time_ == 0 || deadline < next_time_) next_time_ = deadline;
    note_work();
}

void iface::on_time(ucs::time::nanoseconds now) noexcept {
    if (next_time_ == 0 || now < next_time_) return;
    next_time_ = 0;
    timed_list due;
    due.swap(timed_);
    while (!due.empty()) {
        connection& each = due.front();
        due.pop_front();
        each.protocol.on_time(now);
        update(each);
    }
}

unsigned iface::reap_sends() noexcept {
    const std::span<const ibv_wc> batch = sends_.poll();
    for (const ibv_wc& each : batch) {
        if (each.status != IBV_WC_SUCCESS) [[unlikely]]
            send_failed(each);
        transmitter_.completed(static_cast<std::uint32_t>(each.wr_id));
    }
    return static_cast<unsigned>(batch.size());
}

// A send fails only because of the program's memory. So one endpoint fails, and the datagrams of
// the others are repeated.
void iface::send_failed(const ibv_wc& failed) noexcept {
    if (failed.status == IBV_WC_WR_FLUSH_ERR || transmitter_.stopped()) return;
    const auto request = static_cast<std::uint32_t>(failed.wr_id);
    ucs::log::diag(ib_log, "{}: a datagram could not be sent: {}", where().device,
                   ibv_wc_status_str(failed.status));
    connections_.for_each([&](std::uint64_t, connection* each) {
        for (const tx_packet& one : each->protocol.window.packets()) {
            const auto& pkt = static_cast<const packet&>(one);
            if (pkt.at_device && pkt.request == request) {
                return each->protocol.fail(ib::status_of(failed.status));
            }
        }
    });
    connections_.for_each([this](std::uint64_t, connection* each) {
        if (each->protocol.current_state() == sender::state::failed) update(*each);
    });
    if (transmitter_.pair().resume() != UCS_OK) fail_all(UCS_ERR_IO_ERROR, completions::end);
}

}  // namespace uct::ud
