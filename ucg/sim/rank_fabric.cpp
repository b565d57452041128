#include <algorithm>
#include <cmath>
#include <cstring>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/network.hpp"

namespace ucg::sim {
namespace {

constexpr int garbage = 0xa5;

bool matches(const schedule::step& receive, const message& m) noexcept {
    return receive.peer == m.source && receive.channel == m.channel &&
           receive.owner->number() == m.sequence;
}

}  // namespace

rank_t rank_fabric::size() const noexcept {
    return net_.spec_.ranks;
}

const schedule::placement* rank_fabric::node_placement() const noexcept {
    return &net_.placement_;
}

void rank_fabric::post(schedule::step& step) noexcept {
    net_.active_ = rank_;
    switch (step.kind) {
        case schedule::action::send:
            send(step);
            break;
        case schedule::action::receive:
            receive(step);
            break;
        case schedule::action::reduce:
        case schedule::action::copy:
            work(step);
            break;
        case schedule::action::node_collective:
            call_node_collective(step);
            break;
    }
}

// Local work is invisible to other ranks, so the clock simply advances ahead of the events.
void rank_fabric::work(schedule::step& step) noexcept {
    const machine& spec = net_.spec_;
    const bool reduces = step.kind == schedule::action::reduce;
    // n sources take n - 1 passes.
    const double passes = reduces ? static_cast<double>(step.operands->sources - 1) : 1;
    const double bytes = static_cast<double>(step.bytes) * spec.weight * passes;
    const double rate = reduces ? spec.reduce_rate : spec.copy_rate;
    const auto took = static_cast<time_t>(std::llround(bytes * (per_second / rate)));
    schedule::perform(step);
    clock_ += took;
    (reduces ? critical_path_.reduce : critical_path_.copy) += took;
    if (spec.trace) {
        critical_path_.steps.add({reduces ? trace_kind::reduce : trace_kind::copy,
                                  {},
                                  false,
                                  rank_,
                                  rank_,
                                  step.bytes,
                                  clock_,
                                  static_cast<double>(step.bytes) * spec.weight});
    }
    succeed(step);
}

// Calls a node collective. The calls of the ranks match in the order in which each rank makes them.
void rank_fabric::call_node_collective(schedule::step& step) noexcept {
    const rank_t node = net_.node_of(rank_);
    const rank_t local_rank = net_.placement_.index_of(rank_);
    const auto ranks = static_cast<rank_t>(net_.placement_.ranks_on(node).size());
    if (net_.spec_.strict) spoil_output(*step.node_call, local_rank, ranks);
    std::list<node_collective>& all = net_.node_collectives_[node];
    const auto is_match = [&](const node_collective& each) {
        return each.number() == step.owner->number() && each.step_of(local_rank) == nullptr &&
               !each.is_complete();
    };
    auto found = std::ranges::find_if(all, is_match);
    if (found == all.end()) found = all.emplace(all.end(), step.owner->number(), ranks);
    found->enter(local_rank, step);
    step.state = &*found;
    if (waits_for_dead(*found))
        withdraw_step(step, UCS_ERR_ENDPOINT_TIMEOUT);
    else if (found->is_complete())
        net_.add(event_kind::begin_collective, std::max(clock_, net_.now_), rank_, nullptr, &step);
}

// True if the collective waits for a rank that is known to be dead.
bool rank_fabric::waits_for_dead(const node_collective& collective) const noexcept {
    if (collective.is_complete()) return false;
    const std::span<const rank_t> members = net_.placement_.ranks_on(net_.node_of(rank_));
    for (rank_t local_rank = 0; local_rank < collective.ranks(); ++local_rank)
        if (collective.step_of(local_rank) == nullptr &&
            net_.fabric(members[local_rank]).is_death_detected_)
            return true;
    return false;
}

// Leaves a collective that has not begun.
void rank_fabric::withdraw_step(schedule::step& step, ucs_status_t why) noexcept {
    net_.leave(*static_cast<node_collective*>(step.state), rank_);
    step.owner->complete(step, why);
}

void rank_fabric::send(schedule::step& step) noexcept {
    if (net_.fabric(step.peer).is_death_detected_) {
        step.owner->complete(step, UCS_ERR_ENDPOINT_TIMEOUT);
        return;
    }
    message& m = *net_.messages_.take();
    m.source = rank_;
    m.target = step.peer;
    m.channel = step.channel;
    m.sequence = step.owner->number();
    m.sent = &step;
    m.bytes = step.bytes;
    if (!net_.spec_.strict) m.fill(step.from);
    const bool between = net_.is_between(m);
    const time_t overhead = net_.times(between).send_overhead;
    clock_ += overhead;
    critical_path_.overhead += overhead;
    m.critical_path = critical_path_;
    // If ranks share the port, messages pass it in the order of their times.
    if (between && net_.shared_ports_ && clock_ > net_.now_)
        net_.add(event_kind::inject, clock_, rank_, &m);
    else
        net_.inject(m, clock_);
}

void rank_fabric::receive(schedule::step& step) noexcept {
    if (net_.spec_.strict && step.bytes != 0) std::memset(step.into, garbage, step.bytes);
    message* const early =
        unexpected_.take([&](const message& each) { return matches(step, each); });
    if (early == nullptr) {
        if (net_.fabric(step.peer).is_death_detected_)
            step.owner->complete(step, UCS_ERR_ENDPOINT_TIMEOUT);
        else
            posted_.append(step);
        return;
    }
    // If the same exchange posts a send next, the send goes first: it does not wait for this
    // overhead.
    const time_t when = std::max(early->complete, clock_);
    if (when > clock_ || step.counter->pending > 1)
        net_.add(event_kind::deliver, when, rank_, early, &step);
    else
        take_in(early, step);
}

// Ends a receive whose message is complete: as soon as the processor is free, but not before the
// send of the same exchange ended.
void rank_fabric::take_in(message* m, schedule::step& receive) noexcept {
    const time_t overhead = net_.times(net_.is_between(*m)).receive_overhead;
    if (clock_ < m->complete) {
        clock_ = m->complete;
        critical_path_ = m->critical_path;
    }
    clock_ += overhead;
    critical_path_.overhead += overhead;
    const bool fitting = m->bytes == receive.bytes;
    if (fitting && m->bytes != 0) std::memcpy(receive.into, m->content(), m->bytes);
    net_.messages_.give_back(m);
    if (!fitting) {
        receive.owner->complete(receive, UCS_ERR_MESSAGE_TRUNCATED);
    } else if (receive.counter->pending == 1 && receive.counter->time > clock_) {
        net_.add(event_kind::end_step, receive.counter->time, rank_, nullptr, &receive);
    } else {
        succeed(receive);
    }
}

void rank_fabric::end(schedule::step& step) noexcept {
    const time_t until =
        step.counter->pending == 1 ? std::max(net_.now_, step.counter->time) : clock_;
    if (clock_ < until) {
        critical_path_.transfer += until - clock_;
        clock_ = until;
    }
    succeed(step);
}

void rank_fabric::succeed(schedule::step& step) noexcept {
    net_.active_ = rank_;
    step.owner->complete(step, UCS_OK);
}

void rank_fabric::cancel(schedule::step& step) noexcept {
    const bool waits = step.kind == schedule::action::node_collective &&
                       !static_cast<const node_collective*>(step.state)->is_complete();
    if (waits)
        withdraw_step(step, UCS_ERR_CANCELED);
    else if (step.kind == schedule::action::receive && posted_.remove(step))
        step.owner->complete(step, UCS_ERR_CANCELED);
}

ucs_status_t rank_fabric::begin_operation(schedule::operation& operation,
                                          schedule::sequence_t& number) {
    net_.active_ = rank_;
    number = numbers_.take(operation.numbered());
    running_.push_back({number, &operation});
    for (const early_failure& each : early_failures_)
        if (each.number == number) return each.why;
    return UCS_OK;
}

void rank_fabric::end_operation(schedule::operation& operation) noexcept {
    std::erase_if(running_, [&](const running& each) { return each.operation == &operation; });
    if (operation.status() == UCS_OK) return;
    const auto is_of_operation = [&](const message& each) {
        return each.sequence == operation.number();
    };
    while (message* const late = unexpected_.take(is_of_operation))
        net_.messages_.give_back(late);
}

void rank_fabric::report_failure(schedule::operation& operation, ucs_status_t why) noexcept {
    if (!net_.reported_failures_.insert(operation.number()).second) return;
    for (rank_fabric& each : net_.ranks_) {
        if (each.rank_ == rank_ || each.is_dead_) continue;
        message& m = *net_.messages_.take();
        m.sequence = operation.number();
        m.status = why;
        const time_t latency = net_.times(true).latency;
        net_.add(event_kind::notify_failure, std::max(clock_, net_.now_) + latency, each.rank_, &m);
    }
}

void rank_fabric::note_failure(schedule::sequence_t number, ucs_status_t why) noexcept {
    if (schedule::operation* const failed = find(number)) {
        clock_ = std::max(clock_, net_.now_);
        failed->fail_as_notified(why);
    } else if (numbers_.starts_until(number) != 0) {
        early_failures_.push_back({number, why});
    }
}

schedule::operation* rank_fabric::find(schedule::sequence_t number) const noexcept {
    for (const running& each : running_)
        if (each.number == number) return each.operation;
    return nullptr;
}

// Ends the receives one at a time, because the end of each may change the list.
void rank_fabric::notice_death(rank_t victim) noexcept {
    for (schedule::step* each = posted_.first; each != nullptr;) {
        if (each->peer != victim) {
            each = each->next_in_fabric;
            continue;
        }
        posted_.remove(*each);
        clock_ = std::max(clock_, net_.now_);
        each->owner->complete(*each, UCS_ERR_ENDPOINT_TIMEOUT);
        each = posted_.first;
    }
    if (net_.node_of(victim) == net_.node_of(rank_)) leave_node_collectives();
}

// Leaves the collectives that a dead rank has not called, one at a time as above.
void rank_fabric::leave_node_collectives() noexcept {
    const rank_t local_rank = net_.placement_.index_of(rank_);
    const auto is_match = [&](const node_collective& each) {
        return each.step_of(local_rank) != nullptr && waits_for_dead(each);
    };
    std::list<node_collective>& all = net_.node_collectives_[net_.node_of(rank_)];
    for (auto found = std::ranges::find_if(all, is_match); found != all.end();
         found = std::ranges::find_if(all, is_match)) {
        clock_ = std::max(clock_, net_.now_);
        withdraw_step(*found->step_of(local_rank), UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

schedule::step* rank_fabric::match_posted(const message& m) noexcept {
    for (schedule::step* each = posted_.first; each != nullptr; each = each->next_in_fabric) {
        if (!matches(*each, m)) continue;
        posted_.remove(*each);
        return each;
    }
    return nullptr;
}

}  // namespace ucg::sim
