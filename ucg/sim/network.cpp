#include "ucg/sim/network.hpp"

#include <algorithm>
#include <cmath>

#include "ucg/schedule/operation.hpp"

namespace ucg::sim {
namespace {

constexpr double per_nanosecond = 1e3;

time_t in_picoseconds(double nanoseconds) noexcept {
    return static_cast<time_t>(std::llround(nanoseconds * per_nanosecond));
}

}  // namespace

schedule::link_cost costs_of(const machine& of) noexcept {
    const link_parameters& link = of.ranks_per_node < of.ranks ? of.between : of.inside;
    schedule::link_cost made;
    made.latency = (link.latency + link.send_overhead + link.receive_overhead) * 1e-9;
    made.per_byte = 1 / link.bandwidth;
    made.reduce_byte = 1 / of.reduce_rate;
    made.copy_byte = 1 / of.copy_rate;
    made.per_message = std::max(link.send_overhead + link.receive_overhead, link.gap) * 1e-9;
    return made;
}

network::link_times network::times_of(const link_parameters& link, double weight) noexcept {
    return {in_picoseconds(link.latency), in_picoseconds(link.send_overhead),
            in_picoseconds(link.receive_overhead), in_picoseconds(link.gap),
            weight * per_second / link.bandwidth};
}

network::network(const machine& like)
    : like_(like),
      inside_(times_of(like.inside, like.weight)),
      between_(times_of(like.between, like.weight)),
      shared_ports_(like.ranks_per_node > 1),
      random_(like.seed) {
    for (rank_t i = 0; i < like.ranks; ++i)
        ranks_.emplace_back(*this, i);
    const rank_t nodes = (like.ranks + like.ranks_per_node - 1) / like.ranks_per_node;
    nodes_out_.resize(nodes);
    nodes_in_.resize(nodes);
    align();
}

void network::align() noexcept {
    time_t latest = now_;
    path how;
    for (const rank_fabric& each : ranks_) {
        if (each.dead_ || each.clock_ < latest) continue;
        latest = each.clock_;
        how = each.how_;
    }
    how.queued += latest - how.total();
    const time_t skew = in_picoseconds(like_.max_skew);
    for (rank_fabric& each : ranks_) {
        const time_t late = skew == 0 ? 0 : random_.between(0, skew);
        each.clock_ = latest + late;
        each.how_ = how;
        each.how_.disorder += late;
    }
}

void network::add(happening what, time_t when, rank_t rank, message* subject,
                  schedule::step* which) {
    queue_.push({when, order_++, subject, which, rank, what});
}

void network::run() {
    while (!queue_.empty()) {
        const event next = queue_.pop();
        now_ = next.when;
        happen(next);
    }
}

void network::happen(const event& next) {
    rank_fabric& at = ranks_[next.rank];
    switch (next.what) {
        case happening::inject:
            inject(*next.subject, next.when);
            break;
        case happening::reach:
            reach(next.subject);
            break;
        case happening::deliver:
            deliver(next.subject, *next.which);
            break;
        case happening::end:
            // What a rank sent before it died arrives.
            if (at.dead_ && next.subject != nullptr) next.subject->fill(next.subject->sent->from);
            if (at.dead_) break;
            if (next.subject != nullptr)
                end_send(*next.subject, next.when);
            else
                at.end(*next.which);
            break;
        case happening::tell:
            if (!at.dead_) at.hear(next.subject->sequence, next.subject->status);
            messages_.give_back(next.subject);
            break;
        case happening::die:
            at.dead_ = true;
            at.posted_ = at.last_posted_ = nullptr;
            add(happening::notice, now_ + in_picoseconds(like_.detection), next.rank);
            break;
        case happening::notice:
            at.noticed_ = true;
            for (rank_fabric& each : ranks_)
                if (!each.dead_) each.notice_death(next.rank);
            break;
    }
}

// Returns when the last byte has passed.
time_t network::pass(port& through, const message& m, const link_times& link,
                     time_t ready) noexcept {
    const auto wire =
        static_cast<time_t>(std::llround(static_cast<double>(m.bytes) * link.per_byte));
    const time_t start = std::max(ready, through.free);
    through.free = start + std::max(wire, link.gap);
    through.bytes += m.bytes;
    ++through.messages;
    return start + wire;
}

// A random time, but messages of a pair do not overtake each other.
time_t network::disorder(const message& m, time_t reach) {
    if (like_.max_delay <= 0) return 0;
    time_t& last = last_reach_[(std::uint64_t{m.source} << 32U) | m.target];
    last = std::max(last, reach + random_.between(0, in_picoseconds(like_.max_delay)));
    return last - reach;
}

void network::inject(message& m, time_t ready) {
    if (ranks_[m.source].dead_) return;
    const bool between = is_between(m);
    const link_times& link = times(between);
    port& out = between ? nodes_out_[node_of(m.source)] : ranks_[m.source].out_;
    const time_t free_before = out.free;
    const time_t sent = pass(out, m, link, ready);
    const time_t start = std::max(ready, free_before);
    const time_t late = disorder(m, start + link.latency);
    m.how.queued += start - ready;
    m.how.latency += link.latency;
    m.how.disorder += late;
    m.how.messages += 1;
    m.how.between += between ? 1 : 0;
    end_send(m, sent);
    add(happening::reach, start + link.latency + late, m.target, &m);
}

// The step ends when the last byte has left. Where its flight waits for more it need not be an
// event: the time is kept in the gate, and the last one to end sees to it.
void network::end_send(message& m, time_t when) {
    schedule::step& sent = *m.sent;
    rank_fabric& sender = ranks_[m.source];
    if (when > now_ && when > sender.clock_ && (like_.strict || sent.of->open == 1)) {
        add(happening::end, when, m.source, like_.strict ? &m : nullptr, &sent);
        return;
    }
    if (like_.strict) m.fill(sent.from);
    m.sent = nullptr;
    sent.of->time = std::max(sent.of->time, when);
    sender.end(sent);
}

// A message that the end of its step still needs is left alone: it is not used again.
void network::drop(message* m) noexcept {
    if (!like_.strict || m->sent == nullptr) messages_.give_back(m);
}

void network::reach(message* m) {
    const bool between = is_between(*m);
    const link_times& link = times(between);
    rank_fabric& target = ranks_[m->target];
    port& in = between ? nodes_in_[node_of(m->target)] : target.in_;
    const time_t start = std::max(now_, in.free);
    m->complete = pass(in, *m, link, now_);
    m->how.queued += start - now_;
    m->how.transfer += m->complete - start;
    if (target.dead_ ||
        (m->sequence < target.next_number_ && target.find(m->sequence) == nullptr)) {
        drop(m);
        return;
    }
    schedule::step* const waiting = target.match_posted(*m);
    if (waiting == nullptr) {
        target.unexpected_.append(m);
    } else if (m->complete > now_) {
        add(happening::deliver, m->complete, m->target, m, waiting);
    } else {
        deliver(m, *waiting);
    }
}

void network::deliver(message* m, schedule::step& into) {
    rank_fabric& target = ranks_[m->target];
    if (target.dead_)
        messages_.give_back(m);
    else
        target.take_in(m, into);
}

void network::kill(rank_t rank, double when) {
    add(happening::die, std::max(now_, in_picoseconds(when)), rank);
}

std::uint64_t network::bytes_inside() const noexcept {
    std::uint64_t sum = 0;
    for (const rank_fabric& each : ranks_)
        sum += each.out_.bytes;
    return sum;
}

std::uint64_t network::messages_inside() const noexcept {
    std::uint64_t sum = 0;
    for (const rank_fabric& each : ranks_)
        sum += each.out_.messages;
    return sum;
}

}  // namespace ucg::sim
