// What arrives. Everything in it may be anything.
#include <functional>

#include "uct/ib/ud/base/ep.hpp"
#include "uct/ib/ud/base/iface.hpp"

namespace uct::ud {
namespace {

constexpr std::size_t most_overtaken = 4;  // that a test holds back

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
        const arrival what{&buffer, each.byte_len, each.src_qp, each.slid,
                           (each.wc_flags & IBV_WC_GRH) != 0};
        if (faults_.any()) [[unlikely]] {
            take_unreliably(what);
        } else {
            take(what);
        }
    }
    if (batch.empty() && !overtaken_.empty()) [[unlikely]]
        return release_overtaken(true);
    return static_cast<unsigned>(batch.size());
}

void iface::take(const arrival& what) noexcept {
    if (!handle(what)) pool_->give_back(*what.buffer);
}

// As a bad network would have delivered it.
void iface::take_unreliably(arrival what) noexcept {
    const faults::fate fate = faults_.next();
    const bool room = overtaken_.size() < most_overtaken;
    what.overtaken_by = fate.overtaken_by;
    if (fate.lost) {
        pool_->give_back(*what.buffer);
    } else if (fate.overtaken_by > 0 && room) {
        overtaken_.push_back(what);
    } else if (!fate.twice) {
        take(what);
    } else if (!handle(what) && !handle(what)) {
        pool_->give_back(*what.buffer);
    }
    release_overtaken(false);
}

unsigned iface::release_overtaken(bool all) noexcept {
    unsigned released = 0;
    for (std::size_t i = 0; i < overtaken_.size();) {
        if (!all && overtaken_[i].overtaken_by-- > 0) {
            ++i;
            continue;
        }
        const arrival due = overtaken_[i];
        overtaken_.erase(overtaken_.begin() + static_cast<std::ptrdiff_t>(i));
        take(due);
        ++released;
    }
    return released;
}

// True: the buffer is kept.
bool iface::handle(const arrival& what) noexcept {
    if (what.length < wire::route_header) {
        malformed(what.from_pair, "its length");
        return false;
    }
    const auto found =
        wire::parse({what.buffer->data() + wire::route_header, what.length - wire::route_header});
    if (!found) {
        malformed(what.from_pair, "its header");
        return false;
    }
    if (found->head.acknowledges != 0) take_acknowledgement(*found, what.from_pair);
    switch (found->head.what) {
        case wire::kind::data:
            return take_data(*found, what);
        case wire::kind::ack:
            break;
        case wire::kind::request:
        case wire::kind::resync:
            take_request(*found, what);
            break;
        case wire::kind::reply:
            take_reply(*found, what);
            break;
        case wire::kind::refuse:
            if (connection* const on = find(found->head.to, what.from_pair)) {
                on->protocol.refused(psn(found->head.number), ucs::time::now());
                look_after(*on);
            }
            break;
        case wire::kind::goodbye:
            take_goodbye(*found, what);
            break;
        case wire::kind::ended:
            take_ended(*found, what);
            break;
    }
    return false;
}

bool iface::take_data(const wire::datagram& what, const arrival& from) noexcept {
    receiver* const on = receivers_.find(what.head.to);
    if (on == nullptr) {
        answer_unknown(what.head.to, source_of(from));
        return false;
    }
    if (on->from().where.pair != from.from_pair) {
        malformed(from.from_pair, "who it says that it is from");
        return false;
    }
    if (closing_) return false;
    on->heard = true;
    const psn number(what.head.number);
    const bool asks = (what.head.flags & wire::ask) != 0;
    using turn = receive_window<kept_packet>::turn;
    switch (on->window.turn_of(number)) {
        case turn::now:
            owed_.add(*on, asks);
            take_turn(*on, what);
            if (receivers_.kept() > 0) take_kept(*on);
            return false;
        case turn::early: {
            // Its memory is there when its turn comes, and others find buffers, too.
            const bool possible =
                receivers_.may_keep(*on, pool_->all() / 2) &&
                ((what.head.flags & wire::whole) == wire::whole || on->parts.reserve(longest_)) &&
                on->window.keep(number, {from.buffer, from.length});
            owed_.add(*on, true);
            if (!possible) {
                ++count_.dropped;
                return false;
            }
            ++count_.early;
            receivers_.count_kept(*on);
            return true;
        }
        case turn::again:
            ++count_.again;
            owed_.add(*on, true);
            return false;
        case turn::far:
            ++count_.dropped;
            owed_.add(*on, true);
            if (number - on->window.expected() <= static_cast<int>(wire::most_window)) return false;
            wire::header head{};
            head.what = wire::kind::refuse;
            head.to = on->source();
            head.number = on->window.expected().value();
            send_control(on->from(), head, {});
            return false;
    }
    return false;
}

void iface::take_turn(receiver& on, const wire::datagram& what) noexcept {
    const bool first = (what.head.flags & wire::first) != 0;
    const bool last = (what.head.flags & wire::last) != 0;
    if (first && last && !on.parts.is_open()) [[likely]] {
        on.window.advance();
        ++count_.messages;
        return hand_out(on, what.head.id, what.body);
    }
    switch (on.parts.add(first, last, what.body, longest_)) {
        case assembly::outcome::no_memory:
            ++count_.dropped;
            return;
        case assembly::outcome::malformed:
            on.window.advance();
            return malformed(on.from().where.pair, "the parts of a message");
        case assembly::outcome::part:
            return on.window.advance();
        case assembly::outcome::whole:
            break;
    }
    on.window.advance();
    ++count_.messages;
    hand_out(on, what.head.id, on.parts.message());
}

void iface::hand_out(const receiver& from, am_id id, std::span<std::byte> message) noexcept {
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

// Those behind one that has come.
void iface::take_kept(receiver& on) noexcept {
    for (;;) {
        const kept_packet next = on.window.take();
        if (next.buffer == nullptr) return;
        receivers_.count_released(on);
        const auto found = wire::parse(
            {next.buffer->data() + wire::route_header, next.length - wire::route_header});
        take_turn(on, *found);
        pool_->give_back(*next.buffer);
    }
}

connection* iface::find(std::uint64_t id, std::uint32_t from_pair) noexcept {
    connection** const found = connections_.find(id);
    if (found == nullptr || (*found)->to().where.pair != from_pair) return nullptr;
    return *found;
}

void iface::take_acknowledgement(const wire::datagram& what, std::uint32_t from_pair) noexcept {
    connection* const on = find(what.head.acknowledges, from_pair);
    if (on == nullptr) return;  // its endpoint is gone
    const std::uint64_t beyond = what.head.what == wire::kind::ack ? wire::word_in(what.body) : 0;
    packet_list done;
    on->protocol.acknowledged(psn(what.head.expected), beyond, ucs::time::now(), done);
    look_after(*on, done);
}

// Of whom it was is not told.
void iface::receive_failed(ibv_wc_status how) noexcept {
    ++count_.malformed;
    rejected().warn(ib::ib_log, "{}: a datagram was not received: {}", where().device,
                    ibv_wc_status_str(how));
}

void iface::malformed(std::uint32_t from_pair, const char* why) noexcept {
    ++count_.malformed;
    rejected().warn(ib::ib_log, "{}: a datagram of queue pair {:#x} was dropped for {}",
                    where().device, from_pair, why);
}

}  // namespace uct::ud
