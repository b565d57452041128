#include "ucg/sim/network.hpp"

#include <algorithm>
#include <cmath>

#include "ucg/schedule/node_cost.hpp"
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

constexpr double second = 1e-9;  // seconds in a nanosecond

schedule::loggp_params price_of(const link_parameters& link) noexcept {
    return {(link.latency + link.send_overhead + link.receive_overhead) * second,
            1 / link.bandwidth, (link.send_overhead + link.receive_overhead) * second,
            link.gap * second};
}

schedule::node_cost_params price_of_node(const machine& spec) noexcept {
    schedule::node_cost_params made;
    made.flag = spec.flag * second;
    made.flag_read = spec.flag_read * second;
    made.copy_byte = 1 / spec.copy_rate;
    made.reduce_byte = 1 / spec.reduce_rate;
    return made;
}

}  // namespace

schedule::placement placement_of(const machine& spec) {
    if (!spec.nodes.empty()) return schedule::placement(spec.nodes);
    std::vector<std::uint64_t> names(spec.ranks);
    for (rank_t rank = 0; rank < spec.ranks; ++rank)
        names[rank] = rank / spec.ranks_per_node;
    return schedule::placement(names);
}

schedule::link_cost costs_of(const machine& spec) noexcept {
    schedule::link_cost made;
    made.inside = price_of(spec.inside);
    const schedule::loggp_params between = price_of(spec.between);
    made.latency = between.latency;
    made.per_byte = between.per_byte;
    made.per_message = between.per_message;
    made.gap = between.gap;
    made.reduce_byte = 1 / spec.reduce_rate;
    made.copy_byte = 1 / spec.copy_rate;
    made.node = price_of_node(spec);
    return made;
}

network::link_times network::times_of(const link_parameters& link) noexcept {
    return {in_picoseconds(link.latency), in_picoseconds(link.send_overhead),
            in_picoseconds(link.receive_overhead), in_picoseconds(link.gap),
            per_second / link.bandwidth};
}

network::network(const machine& spec)
    : spec_(spec),
      placement_(placement_of(spec)),
      node_price_(price_of_node(spec)),
      inside_(times_of(spec.inside)),
      between_(times_of(spec.between)),
      shared_ports_(placement_.max_ranks_per_node() > 1),
      random_(spec.seed) {
    for (rank_t i = 0; i < spec.ranks; ++i)
        ranks_.emplace_back(*this, i);
    nodes_out_.resize(placement_.nodes());
    nodes_in_.resize(placement_.nodes());
    node_collectives_.resize(placement_.nodes());
    align();
}

void network::align() noexcept {
    time_t latest = now_;
    path critical_path;
    for (const rank_fabric& each : ranks_) {
        if (each.is_dead_ || each.clock_ < latest) continue;
        latest = each.clock_;
        critical_path = each.critical_path_;
    }
    critical_path.queued += latest - critical_path.total();
    const time_t skew = in_picoseconds(spec_.max_skew);
    for (rank_fabric& each : ranks_) {
        const time_t late = skew == 0 ? 0 : random_.between(0, skew);
        each.clock_ = latest + late;
        each.critical_path_ = critical_path;
        each.critical_path_.disorder += late;
    }
}

void network::add(event_kind kind, time_t when, rank_t rank, message* subject,
                  schedule::step* step) {
    queue_.push({when, order_++, subject, step, rank, kind});
}

void network::run() {
    while (!queue_.empty()) {
        const event next = queue_.pop();
        now_ = next.when;
        process(next);
    }
}

void network::process(const event& next) {
    rank_fabric& fabric = ranks_[next.rank];
    switch (next.kind) {
        case event_kind::inject:
            inject(*next.subject, next.when);
            break;
        case event_kind::reach:
            reach(next.subject);
            break;
        case event_kind::deliver:
            deliver(next.subject, *next.step);
            break;
        case event_kind::end_step:
            // A message that a rank sent before it died arrives.
            if (fabric.is_dead_ && next.subject != nullptr)
                next.subject->fill(next.subject->sent->from);
            if (fabric.is_dead_) break;
            if (next.subject != nullptr)
                end_send(*next.subject, next.when);
            else
                fabric.end(*next.step);
            break;
        case event_kind::begin_collective:
            begin(*static_cast<node_collective*>(next.step->state), next.rank);
            break;
        case event_kind::finish_collective:
            finish(*next.step, next.rank);
            break;
        case event_kind::notify_failure:
            if (!fabric.is_dead_) fabric.note_failure(next.subject->sequence, next.subject->status);
            messages_.give_back(next.subject);
            break;
        case event_kind::die:
            fabric.is_dead_ = true;
            fabric.posted_ = {};
            add(event_kind::detect_death, now_ + in_picoseconds(spec_.detection), next.rank);
            break;
        case event_kind::detect_death:
            fabric.is_death_detected_ = true;
            for (rank_fabric& each : ranks_)
                if (!each.is_dead_) each.notice_death(next.rank);
            break;
    }
}

// Sends a message through a port. Returns the time when the last byte has passed.
time_t network::pass(port& through, const message& m, const link_times& link,
                     time_t ready) noexcept {
    const double bytes = spec_.charged(m.bytes);
    const auto wire = static_cast<time_t>(std::llround(bytes * link.per_byte));
    const time_t start = std::max(ready, through.free);
    through.free = start + std::max(wire, link.gap);
    through.bytes += m.bytes;
    through.charged += bytes;
    ++through.messages;
    return start + wire;
}

// A random delay that keeps the messages of a pair of ranks in order.
time_t network::disorder(const message& m, time_t reach) {
    if (spec_.max_delay <= 0) return 0;
    time_t& last = last_reach_[(std::uint64_t{m.source} << 32U) | m.target];
    last = std::max(last, reach + random_.between(0, in_picoseconds(spec_.max_delay)));
    return last - reach;
}

void network::inject(message& m, time_t ready) {
    if (ranks_[m.source].is_dead_) return;
    const bool between = is_between(m);
    const link_times& link = times(between);
    port& out = between ? nodes_out_[node_of(m.source)] : ranks_[m.source].out_;
    const time_t free_before = out.free;
    const time_t sent = pass(out, m, link, ready);
    const time_t start = std::max(ready, free_before);
    const time_t late = disorder(m, start + link.latency);
    m.critical_path.queued += start - ready;
    m.critical_path.latency += link.latency;
    m.critical_path.disorder += late;
    m.critical_path.messages += 1;
    m.critical_path.between += between ? 1 : 0;
    end_send(m, sent);
    add(event_kind::reach, start + link.latency + late, m.target, &m);
}

// The step ends when the last byte has left. If its counter counts other steps, too, no event is
// needed: the counter stores the time, and the step that ends last applies it.
void network::end_send(message& m, time_t when) {
    schedule::step& sent = *m.sent;
    rank_fabric& sender = ranks_[m.source];
    if (when > now_ && when > sender.clock_ && (spec_.strict || sent.counter->pending == 1)) {
        add(event_kind::end_step, when, m.source, spec_.strict ? &m : nullptr, &sent);
        return;
    }
    if (spec_.strict) m.fill(sent.from);
    m.sent = nullptr;
    sent.counter->time = std::max(sent.counter->time, when);
    sender.end(sent);
}

// A message whose send step has not ended is not recycled, because the end of the step uses it.
void network::drop(message* m) noexcept {
    if (!spec_.strict || m->sent == nullptr) messages_.give_back(m);
}

void network::reach(message* m) {
    const bool between = is_between(*m);
    const link_times& link = times(between);
    rank_fabric& target = ranks_[m->target];
    port& in = between ? nodes_in_[node_of(m->target)] : target.in_;
    const time_t start = std::max(now_, in.free);
    m->complete = pass(in, *m, link, now_);
    m->critical_path.queued += start - now_;
    m->critical_path.transfer += m->complete - start;
    if (spec_.trace) {
        m->critical_path.steps.add({trace_kind::message,
                                    {},
                                    between,
                                    m->target,
                                    m->source,
                                    m->bytes,
                                    m->complete,
                                    spec_.charged(m->bytes)});
    }
    if (target.is_dead_ ||
        (target.numbers_.starts_until(m->sequence) == 0 && target.find(m->sequence) == nullptr)) {
        drop(m);
        return;
    }
    schedule::step* const waiting = target.match_posted(*m);
    if (waiting == nullptr) {
        target.unexpected_.append(m);
    } else if (m->complete > now_) {
        add(event_kind::deliver, m->complete, m->target, m, waiting);
    } else {
        deliver(m, *waiting);
    }
}

void network::deliver(message* m, schedule::step& receive) {
    rank_fabric& target = ranks_[m->target];
    if (target.is_dead_)
        messages_.give_back(m);
    else
        target.take_in(m, receive);
}

// All ranks have called. The engine needs all processors, so the collective begins when the last of
// them is free.
void network::begin(node_collective& collective, rank_t last) {
    const std::span<const rank_t> members = placement_.ranks_on(node_of(last));
    const auto clock = [&](rank_t rank) { return ranks_[rank].clock_; };
    const rank_t latest = *std::ranges::max_element(members, {}, clock);
    if (clock(latest) > now_ && !collective.is_postponed) {
        collective.is_postponed = true;
        add(event_kind::begin_collective, clock(latest), last, nullptr,
            collective.step_of(placement_.index_of(last)));
        return;
    }
    path critical_path = ranks_[latest].critical_path_;
    if (collective.agrees()) {
        schedule::node_shape shape =
            schedule::node_shape_of(collective.call_of(0), collective.ranks());
        for (double* const bytes : {&shape.bytes, &shape.total, &shape.largest})
            *bytes *= spec_.weight;
        const schedule::node_duration took = schedule::node_cost_of(shape, node_price_);
        critical_path.latency += in_time(took.waiting);
        critical_path.copy += in_time(took.copying);
        critical_path.reduce += in_time(took.reducing);
        ++critical_path.node_collectives;
        if (spec_.trace) {
            const schedule::call& args = collective.call_of(placement_.index_of(latest));
            const std::uint64_t bytes = args.count * args.element;
            critical_path.steps.add({trace_kind::node_collective, args.kind, false, latest, latest,
                                     bytes, critical_path.total(),
                                     static_cast<double>(bytes) * spec_.weight});
        }
        if (!spec_.strict) collective.read();
    }
    for (const rank_t rank : members) {
        const time_t late = random_.between(0, in_picoseconds(spec_.max_delay));
        ranks_[rank].critical_path_ = critical_path;
        ranks_[rank].critical_path_.disorder += late;
        ranks_[rank].clock_ = ranks_[rank].critical_path_.total();
        add(event_kind::finish_collective, clock(rank), rank, nullptr,
            collective.step_of(placement_.index_of(rank)));
    }
}

void network::finish(schedule::step& step, rank_t rank) {
    node_collective& ended = *static_cast<node_collective*>(step.state);
    const bool agreed = ended.has_read() || ended.agrees();
    if (agreed && !ended.has_read()) ended.read();
    const bool is_dead = ranks_[rank].is_dead_;
    if (agreed && !is_dead) ended.write(placement_.index_of(rank));
    leave(ended, rank);
    active_ = rank;
    if (!is_dead) step.owner->complete(step, agreed ? UCS_OK : UCS_ERR_INVALID_PARAM);
}

void network::leave(node_collective& collective, rank_t rank) noexcept {
    if (!collective.leave(placement_.index_of(rank))) return;
    node_collectives_[node_of(rank)].remove_if(
        [&](const node_collective& each) { return &each == &collective; });
}

void network::kill(rank_t rank, double when) {
    add(event_kind::die, std::max(now_, in_picoseconds(when)), rank);
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
