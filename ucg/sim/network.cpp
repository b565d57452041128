#include "ucg/sim/network.hpp"

#include <algorithm>
#include <cmath>

#include "ucg/node/cost.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::sim {
namespace {

constexpr double per_nanosecond = 1e3;

time_t in_time(double seconds) noexcept {
    return static_cast<time_t>(std::llround(seconds * per_second));
}

time_t in_picoseconds(double nanoseconds) noexcept {
    return static_cast<time_t>(std::llround(nanoseconds * per_nanosecond));
}

constexpr double second = 1e-9;  // of a nanosecond

schedule::link_price price_of(const link_parameters& link) noexcept {
    return {(link.latency + link.send_overhead + link.receive_overhead) * second,
            1 / link.bandwidth, (link.send_overhead + link.receive_overhead) * second,
            link.gap * second};
}

schedule::node_price price_of_node(const machine& of) noexcept {
    schedule::node_price made;
    made.flag = of.flag * second;
    made.look = of.look * second;
    made.copy_byte = 1 / of.copy_rate;
    made.reduce_byte = 1 / of.reduce_rate;
    return made;
}

}  // namespace

schedule::placement placement_of(const machine& of) {
    if (!of.nodes.empty()) return schedule::placement(of.nodes);
    std::vector<std::uint64_t> names(of.ranks);
    for (rank_t rank = 0; rank < of.ranks; ++rank)
        names[rank] = rank / of.ranks_per_node;
    return schedule::placement(names);
}

schedule::link_cost costs_of(const machine& of) noexcept {
    schedule::link_cost made;
    made.inside = price_of(of.inside);
    const schedule::link_price between = price_of(of.between);
    made.latency = between.latency;
    made.per_byte = between.per_byte;
    made.per_message = between.per_message;
    made.gap = between.gap;
    made.reduce_byte = 1 / of.reduce_rate;
    made.copy_byte = 1 / of.copy_rate;
    made.node = price_of_node(of);
    return made;
}

network::link_times network::times_of(const link_parameters& link) noexcept {
    return {in_picoseconds(link.latency), in_picoseconds(link.send_overhead),
            in_picoseconds(link.receive_overhead), in_picoseconds(link.gap),
            per_second / link.bandwidth};
}

network::network(const machine& like)
    : like_(like),
      where_(placement_of(like)),
      node_price_(price_of_node(like)),
      inside_(times_of(like.inside)),
      between_(times_of(like.between)),
      shared_ports_(where_.most() > 1),
      random_(like.seed) {
    for (rank_t i = 0; i < like.ranks; ++i)
        ranks_.emplace_back(*this, i);
    nodes_out_.resize(where_.nodes());
    nodes_in_.resize(where_.nodes());
    meetings_.resize(where_.nodes());
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
        case happening::meet:
            begin(*static_cast<meeting*>(next.which->state), next.rank);
            break;
        case happening::finish:
            finish(*next.which, next.rank);
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
    const double bytes = like_.charged(m.bytes);
    const auto wire = static_cast<time_t>(std::llround(bytes * link.per_byte));
    const time_t start = std::max(ready, through.free);
    through.free = start + std::max(wire, link.gap);
    through.bytes += m.bytes;
    through.charged += bytes;
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
    if (like_.trace) {
        m->how.steps.add({trail_kind::message,
                          {},
                          between,
                          m->target,
                          m->source,
                          m->bytes,
                          m->complete,
                          like_.charged(m->bytes)});
    }
    if (target.dead_ ||
        (target.numbers_.ahead(m->sequence) == 0 && target.find(m->sequence) == nullptr)) {
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

// All have asked. The engine needs all processors: it begins when the last of them has time.
void network::begin(meeting& of, rank_t last) {
    const std::span<const rank_t> here = where_.on(node_of(last));
    const auto clock = [&](rank_t rank) { return ranks_[rank].clock_; };
    const rank_t latest = *std::ranges::max_element(here, {}, clock);
    if (clock(latest) > now_ && !of.postponed) {
        of.postponed = true;
        add(happening::meet, clock(latest), last, nullptr, of.step_of(where_.index_of(last)));
        return;
    }
    path how = ranks_[latest].how_;
    if (of.agrees()) {
        node::asked what = node::asked_by(of.call_of(0), of.ranks());
        for (double* const bytes : {&what.bytes, &what.total, &what.largest})
            *bytes *= like_.weight;
        const node::duration took = node::cost_of(what, node_price_);
        how.latency += in_time(took.waiting);
        how.copy += in_time(took.copying);
        how.reduce += in_time(took.reducing);
        ++how.meetings;
        if (like_.trace) {
            const schedule::call& asked = of.call_of(where_.index_of(latest));
            const std::uint64_t bytes = asked.count * asked.element;
            how.steps.add({trail_kind::meeting, asked.what, false, latest, latest, bytes,
                           how.total(), static_cast<double>(bytes) * like_.weight});
        }
        if (!like_.strict) of.read();
    }
    for (const rank_t rank : here) {
        const time_t late = random_.between(0, in_picoseconds(like_.max_delay));
        ranks_[rank].how_ = how;
        ranks_[rank].how_.disorder += late;
        ranks_[rank].clock_ = ranks_[rank].how_.total();
        add(happening::finish, clock(rank), rank, nullptr, of.step_of(where_.index_of(rank)));
    }
}

void network::finish(schedule::step& of, rank_t rank) {
    meeting& ended = *static_cast<meeting*>(of.state);
    const bool agreed = ended.has_read() || ended.agrees();
    if (agreed && !ended.has_read()) ended.read();
    const bool is_dead = ranks_[rank].dead_;
    if (agreed && !is_dead) ended.write(where_.index_of(rank));
    leave(ended, rank);
    active_ = rank;
    if (!is_dead) of.owner->complete(of, agreed ? UCS_OK : UCS_ERR_INVALID_PARAM);
}

void network::leave(meeting& of, rank_t rank) noexcept {
    if (!of.leave(where_.index_of(rank))) return;
    meetings_[node_of(rank)].remove_if([&](const meeting& each) { return &each == &of; });
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

double network::charged_inside() const noexcept {
    double sum = 0;
    for (const rank_fabric& each : ranks_)
        sum += each.out_.charged;
    return sum;
}

std::uint64_t network::messages_inside() const noexcept {
    std::uint64_t sum = 0;
    for (const rank_fabric& each : ranks_)
        sum += each.out_.messages;
    return sum;
}

}  // namespace ucg::sim
