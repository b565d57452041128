// What goes out: packets, questions, acknowledgements, and what happens when they are done.
#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {

void iface::submit(connection& on, packet& fresh, am_id id, std::uint8_t flags) noexcept {
    // A part of a message whose first one found no way.
    if (on.dismantled) [[unlikely]]
        return transmitter::put_back(fresh);
    fresh.on = &on;
    wire::header head{};
    head.version = wire::version;
    head.what = wire::kind::data;
    head.id = id;
    head.flags = flags;
    fresh.set_head(head);
    on.protocol.window().add(fresh);
    if (fresh.from_memory) ++on.open;
    if (on.protocol.at() == sender::state::idle) [[unlikely]] {
        on.protocol.start();
        if (const ucs_status_t status = find_way(on.to()); status != UCS_OK) {
            ucs::log::error(ib::ib_log, "{}: there is no way to {}: {}", where().device,
                            on.user->peer_name(), ucs_status_string(status));
            on.protocol.fail(status);
            return look_after(on);
        }
    }
    send_now(on);
}

void iface::send_now(connection& on) noexcept {
    const auto question = on.protocol.to_ask();
    tx_packet* next = on.protocol.to_send();
    if (!question && next == nullptr) return;
    const ucs::time::nanoseconds now = ucs::time::now();
    bool all = !question || send_question(on, now);
    for (; next != nullptr && all; next = on.protocol.to_send()) {
        if (!sends_out_.has_room()) {
            all = false;
            break;
        }
        transmit(on, static_cast<packet&>(*next), now);
    }
    if (!all) attend_to(on);
    keep_time(on);
}

void iface::transmit(connection& on, packet& which, ucs::time::nanoseconds now) noexcept {
    wire::header head = which.head();
    // What the device may be reading is not changed; the header of before will do.
    if (!sends_out_.reads(which) || head.to != on.protocol.remote()) {
        head.to = on.protocol.remote();
        head.number = which.number.value();
        const bool now_wanted =
            which.from_memory || which.sends > 0 || on.protocol.window().is_last_allowed();
        head.flags = static_cast<std::uint8_t>(now_wanted ? head.flags | wire::ask
                                                          : head.flags & ~wire::ask);
        fill_acknowledgement(head, on.to());
        which.set_head(head);
    }
    sends_out_.post(which, on.to(), false);
    on.protocol.sent(which, now);
}

// The datagram acknowledges on its way what came from there.
void iface::fill_acknowledgement(wire::header& head, peer& to) noexcept {
    head.acknowledges = 0;
    head.expected = 0;
    receiver* const owed = to.owed;
    if (owed == nullptr) return;
    head.acknowledges = owed->source();
    head.expected = owed->window.expected().value();
    if (owed->window.beyond() != 0) return;  // that needs more than fits here
    owed_acknowledgements::settle(*owed);
}

bool iface::send_question(connection& on, ucs::time::nanoseconds now) noexcept {
    const auto asks = on.protocol.to_ask();
    std::array<std::byte, wire::hello::size> body;
    const auto patience = static_cast<std::uint32_t>(options_.timeout.seconds + 1);
    wire::hello{own_, on.id, asks->count, patience}.pack(body);
    wire::header head{};
    head.what = asks->what;
    head.number = asks->number.value();
    head.to = on.protocol.remote();
    if (!send_control(on.to(), head, body)) return false;
    on.protocol.asked(now);
    return true;
}

bool iface::send_control(peer& to, wire::header head, std::span<const std::byte> body) noexcept {
    if (!sends_out_.has_room() || to.way == nullptr) return false;
    bounce* const made = sends_out_.get_bounce();
    if (made == nullptr) return false;
    head.version = wire::version;
    made->set_head(head);
    if (!body.empty()) std::memcpy(made->body(), body.data(), body.size());
    made->length = static_cast<std::uint32_t>(wire::header_size + body.size());
    // Interfaces that close wait for their last words.
    sends_out_.post(*made, to, closing_ || head.what == wire::kind::goodbye);
    sends_out_.retire(*made);
    return true;
}

bool iface::send_acknowledgement(receiver& to) noexcept {
    wire::header head{};
    head.what = wire::kind::ack;
    head.acknowledges = to.source();
    head.expected = to.window.expected().value();
    const std::uint64_t beyond = to.window.beyond();
    if (!send_control(to.from(), head, std::as_bytes(std::span(&beyond, 1)))) return false;
    ++count_.acknowledgements;
    return true;
}

void iface::acknowledge(bool all) noexcept {
    while (receiver* const next = owed_.next(!all)) {
        if (!send_acknowledgement(*next)) return;  // no room now
        owed_acknowledgements::settle(*next);
    }
}

void iface::look_after(connection& which) noexcept {
    packet_list nothing;
    look_after(which, nothing);
}

void iface::look_after(connection& which, packet_list& done) noexcept {
    while (!done.empty()) {
        auto& each = static_cast<packet&>(done.front());
        done.pop_front();
        sends_out_.retire(each);
    }
    lingering_.note(which);
    if (which.protocol.at() == sender::state::failed) return dismantle(which);
    if (!which.flushes.empty()) end_flushes(which, which.protocol.window().oldest(), UCS_OK);
    send_now(which);
    keep_time(which);
}

void iface::dismantle(connection& failed) noexcept {
    if (failed.dismantled) return;
    failed.dismantled = true;
    packet_list left;
    failed.protocol.window().abandon(left);
    while (!left.empty()) {
        auto& each = static_cast<packet&>(left.front());
        left.pop_front();
        if (each.from_memory) static_cast<direct&>(each).status = failed.protocol.error();
        sends_out_.retire(each);
    }
    end_flushes(failed, failed.protocol.window().next(), failed.protocol.error());
    failed.timer_hook.unlink();
    failed.attention_hook.unlink();
    report_if_done(failed);
}

// Operations end before their endpoint does.
void iface::report_if_done(connection& failed) noexcept {
    if (failed.dismantled && failed.open == 0 && failed.user != nullptr) {
        note_failure(*failed.user, failed.protocol.error());
    }
}

void iface::flush(connection& on, flush_op& waiting) noexcept {
    waiting.on = &on;
    waiting.until = on.protocol.window().next();
    ++on.open;
    on.flushes.push_back(waiting);
    if (on.protocol.window().empty()) end_flushes(on, waiting.until, UCS_OK);
}

// All that wait for packets before that number.
void iface::end_flushes(connection& of, psn before, ucs_status_t status) noexcept {
    while (!of.flushes.empty() && of.flushes.front().until - before <= 0) {
        flush_op& first = of.flushes.front();
        of.flushes.pop_front();
        first.status = status;
        ended_flushes_.push_back(first);
        note_work();
    }
}

void iface::check(connection& on) noexcept {
    on.protocol.check();
    look_after(on);
}

unsigned iface::tell_ended() noexcept {
    unsigned told = 0;
    for (; !sends_out_.ended().empty(); ++told) {
        auto& first = static_cast<direct&>(sends_out_.ended().front());
        sends_out_.ended().pop_front();
        tell(first);
    }
    for (; !ended_flushes_.empty(); ++told) {
        flush_op& first = ended_flushes_.front();
        ended_flushes_.pop_front();
        tell(first);
    }
    return told;
}

void iface::tell(direct& ended) noexcept {
    completion* const waiting = std::exchange(ended.done, nullptr);
    const ucs_status_t status = std::exchange(ended.status, UCS_OK);
    connection* const of = ended.on;
    transmitter::put_back(ended);
    --of->open;
    report_if_done(*of);
    if (waiting != nullptr) waiting->finish(status);
}

void iface::tell(flush_op& ended) noexcept {
    const std::unique_ptr<flush_op> last(&ended);
    --last->on->open;
    report_if_done(*last->on);
    last->done->finish(last->status);
}

void iface::attend_to(connection& which) noexcept {
    if (!which.attention_hook.is_linked()) attention_.push_back(which);
}

void iface::attend() noexcept {
    attention_list taken;
    taken.swap(attention_);
    while (!taken.empty() && sends_out_.has_room()) {
        connection& each = taken.front();
        taken.pop_front();
        send_now(each);
    }
    attention_.splice(attention_.end(), taken);
}

void iface::keep_time(connection& which) noexcept {
    const ucs::time::nanoseconds at = which.protocol.deadline();
    if (at == 0) return which.timer_hook.unlink();
    if (!which.timer_hook.is_linked()) timed_.push_back(which);
    if (next_time_ == 0 || at < next_time_) next_time_ = at;
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
        look_after(each);
    }
}

unsigned iface::reap_sends() noexcept {
    const std::span<const ibv_wc> batch = sends_.poll();
    for (const ibv_wc& each : batch) {
        if (each.status != IBV_WC_SUCCESS) [[unlikely]]
            send_failed(each);
        sends_out_.completed(static_cast<std::uint32_t>(each.wr_id));
    }
    return static_cast<unsigned>(batch.size());
}

// Only the program's memory can be at fault: one endpoint ends, the others' datagrams are repeated.
void iface::send_failed(const ibv_wc& how) noexcept {
    if (how.status == IBV_WC_WR_FLUSH_ERR || sends_out_.stopped()) return;
    const auto request = static_cast<std::uint32_t>(how.wr_id);
    ucs::log::diag(ib::ib_log, "{}: a datagram could not be sent: {}", where().device,
                   ibv_wc_status_str(how.status));
    connections_.for_each([&](std::uint64_t, connection* each) {
        for (const tx_packet& one : each->protocol.window().packets()) {
            const auto& of = static_cast<const packet&>(one);
            if (of.at_device && of.request == request) {
                return each->protocol.fail(ib::status_of(how.status));
            }
        }
    });
    connections_.for_each([this](std::uint64_t, connection* each) {
        if (each->protocol.at() == sender::state::failed) look_after(*each);
    });
    if (sends_out_.pair().resume() != UCS_OK) fail_all(UCS_ERR_IO_ERROR, completions::end);
}

}  // namespace uct::ud
