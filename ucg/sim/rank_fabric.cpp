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
    return net_.like_.ranks;
}

const schedule::placement* rank_fabric::where() const noexcept {
    return &net_.where_;
}

void rank_fabric::post(schedule::step& what) noexcept {
    net_.active_ = rank_;
    switch (what.what) {
        case schedule::action::send:
            send(what);
            break;
        case schedule::action::receive:
            receive(what);
            break;
        case schedule::action::reduce:
        case schedule::action::copy:
            work(what);
            break;
        case schedule::action::together:
            meet(what);
            break;
    }
}

// Nobody else sees when a processor works, so it just gets ahead of the events.
void rank_fabric::work(schedule::step& what) noexcept {
    const machine& like = net_.like_;
    const bool reduces = what.what == schedule::action::reduce;
    // Of n sources, n - 1 are worked into the result.
    const double passes = reduces ? static_cast<double>(what.work->sources - 1) : 1;
    const double bytes = static_cast<double>(what.bytes) * like.weight * passes;
    const double rate = reduces ? like.reduce_rate : like.copy_rate;
    const auto took = static_cast<time_t>(std::llround(bytes * (per_second / rate)));
    schedule::perform(what);
    clock_ += took;
    (reduces ? how_.reduce : how_.copy) += took;
    if (like.trace) {
        how_.steps.add({reduces ? trail_kind::reduce : trail_kind::copy,
                        {},
                        false,
                        rank_,
                        rank_,
                        what.bytes,
                        clock_,
                        static_cast<double>(what.bytes) * like.weight});
    }
    succeed(what);
}

// Asks for a collective of the node. Those of all ranks belong together in the order in which each
// asks.
void rank_fabric::meet(schedule::step& what) noexcept {
    const rank_t node = net_.node_of(rank_);
    const rank_t place = net_.where_.index_of(rank_);
    const auto ranks = static_cast<rank_t>(net_.where_.on(node).size());
    if (net_.like_.strict) spoil_output(*what.asked, place, ranks);
    std::list<meeting>& all = net_.meetings_[node];
    const auto is_it = [&](const meeting& each) {
        return each.number() == what.owner->number() && each.step_of(place) == nullptr &&
               !each.complete();
    };
    auto found = std::ranges::find_if(all, is_it);
    if (found == all.end()) found = all.emplace(all.end(), what.owner->number(), ranks);
    found->enter(place, what);
    what.state = &*found;
    if (misses(*found))
        withdraw(what, UCS_ERR_ENDPOINT_TIMEOUT);
    else if (found->complete())
        net_.add(happening::meet, std::max(clock_, net_.now_), rank_, nullptr, &what);
}

// Whether it waits for one that is known to be dead.
bool rank_fabric::misses(const meeting& of) const noexcept {
    if (of.complete()) return false;
    const std::span<const rank_t> here = net_.where_.on(net_.node_of(rank_));
    for (rank_t place = 0; place < of.ranks(); ++place)
        if (of.step_of(place) == nullptr && net_.of(here[place]).noticed_) return true;
    return false;
}

// Out of a collective that has not begun.
void rank_fabric::withdraw(schedule::step& from, ucs_status_t why) noexcept {
    net_.leave(*static_cast<meeting*>(from.state), rank_);
    from.owner->complete(from, why);
}

void rank_fabric::send(schedule::step& what) noexcept {
    if (net_.of(what.peer).noticed_) {
        what.owner->complete(what, UCS_ERR_ENDPOINT_TIMEOUT);
        return;
    }
    message& m = *net_.messages_.take();
    m.source = rank_;
    m.target = what.peer;
    m.channel = what.channel;
    m.sequence = what.owner->number();
    m.sent = &what;
    m.bytes = what.bytes;
    if (!net_.like_.strict) m.fill(what.from);
    const bool between = net_.is_between(m);
    const time_t overhead = net_.times(between).send_overhead;
    clock_ += overhead;
    how_.overhead += overhead;
    m.how = how_;
    // Where others use the port as well, whoever comes first passes first.
    if (between && net_.shared_ports_ && clock_ > net_.now_)
        net_.add(happening::inject, clock_, rank_, &m);
    else
        net_.inject(m, clock_);
}

void rank_fabric::receive(schedule::step& what) noexcept {
    if (net_.like_.strict && what.bytes != 0) std::memset(what.into, garbage, what.bytes);
    message* const early =
        unexpected_.take([&](const message& each) { return matches(what, each); });
    if (early == nullptr) {
        if (net_.of(what.peer).noticed_)
            what.owner->complete(what, UCS_ERR_ENDPOINT_TIMEOUT);
        else
            append_posted(what);
        return;
    }
    // A send that follows in the same exchange goes first: it does not wait for this overhead.
    const time_t when = std::max(early->complete, clock_);
    if (when > clock_ || what.of->open > 1)
        net_.add(happening::deliver, when, rank_, early, &what);
    else
        take_in(early, what);
}

// The message is complete: goes on as soon as the processor has time, but not before the other half
// of an exchange ended.
void rank_fabric::take_in(message* m, schedule::step& into) noexcept {
    const time_t overhead = net_.times(net_.is_between(*m)).receive_overhead;
    if (clock_ < m->complete) {
        clock_ = m->complete;
        how_ = m->how;
    }
    clock_ += overhead;
    how_.overhead += overhead;
    const bool fitting = m->bytes == into.bytes;
    if (fitting && m->bytes != 0) std::memcpy(into.into, m->content(), m->bytes);
    net_.messages_.give_back(m);
    if (!fitting) {
        into.owner->complete(into, UCS_ERR_MESSAGE_TRUNCATED);
    } else if (into.of->open == 1 && into.of->time > clock_) {
        net_.add(happening::end, into.of->time, rank_, nullptr, &into);
    } else {
        succeed(into);
    }
}

void rank_fabric::end(schedule::step& which) noexcept {
    const time_t until = which.of->open == 1 ? std::max(net_.now_, which.of->time) : clock_;
    if (clock_ < until) {
        how_.transfer += until - clock_;
        clock_ = until;
    }
    succeed(which);
}

void rank_fabric::succeed(schedule::step& which) noexcept {
    net_.active_ = rank_;
    which.owner->complete(which, UCS_OK);
}

void rank_fabric::cancel(schedule::step& what) noexcept {
    const bool waits = what.what == schedule::action::together &&
                       !static_cast<const meeting*>(what.state)->complete();
    if (waits)
        withdraw(what, UCS_ERR_CANCELED);
    else if (what.what == schedule::action::receive && remove_posted(what))
        what.owner->complete(what, UCS_ERR_CANCELED);
}

ucs_status_t rank_fabric::enter(schedule::operation& what, schedule::sequence_t& number) noexcept {
    net_.active_ = rank_;
    number = numbers_.take(what.numbered());
    running_.push_back({number, &what});
    for (const told& each : told_)
        if (each.number == number) return each.why;
    return UCS_OK;
}

void rank_fabric::leave(schedule::operation& what) noexcept {
    std::erase_if(running_, [&](const running& each) { return each.which == &what; });
    if (what.status() == UCS_OK) return;
    const auto of_it = [&](const message& each) { return each.sequence == what.number(); };
    while (message* const late = unexpected_.take(of_it))
        net_.messages_.give_back(late);
}

void rank_fabric::announce(schedule::operation& what, ucs_status_t why) noexcept {
    if (!net_.announced_.insert(what.number()).second) return;
    for (rank_fabric& each : net_.ranks_) {
        if (each.rank_ == rank_ || each.dead_) continue;
        message& m = *net_.messages_.take();
        m.sequence = what.number();
        m.status = why;
        const time_t latency = net_.times(true).latency;
        net_.add(happening::tell, std::max(clock_, net_.now_) + latency, each.rank_, &m);
    }
}

void rank_fabric::hear(schedule::sequence_t number, ucs_status_t why) noexcept {
    if (schedule::operation* const failed = find(number)) {
        clock_ = std::max(clock_, net_.now_);
        failed->fail_as_told(why);
    } else if (numbers_.ahead(number) != 0) {
        told_.push_back({number, why});
    }
}

schedule::operation* rank_fabric::find(schedule::sequence_t number) const noexcept {
    for (const running& each : running_)
        if (each.number == number) return each.which;
    return nullptr;
}

// One at a time: each that ends may change the list.
void rank_fabric::notice_death(rank_t of) noexcept {
    for (schedule::step* each = posted_; each != nullptr;) {
        if (each->peer != of) {
            each = each->neighbour;
            continue;
        }
        remove_posted(*each);
        clock_ = std::max(clock_, net_.now_);
        each->owner->complete(*each, UCS_ERR_ENDPOINT_TIMEOUT);
        each = posted_;
    }
    if (net_.node_of(of) == net_.node_of(rank_)) leave_meetings();
}

// Those that a dead rank has not joined. One at a time, as above.
void rank_fabric::leave_meetings() noexcept {
    const rank_t place = net_.where_.index_of(rank_);
    const auto is_it = [&](const meeting& each) {
        return each.step_of(place) != nullptr && misses(each);
    };
    std::list<meeting>& all = net_.meetings_[net_.node_of(rank_)];
    for (auto found = std::ranges::find_if(all, is_it); found != all.end();
         found = std::ranges::find_if(all, is_it)) {
        clock_ = std::max(clock_, net_.now_);
        withdraw(*found->step_of(place), UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

void rank_fabric::append_posted(schedule::step& what) noexcept {
    what.neighbour = nullptr;
    (last_posted_ != nullptr ? last_posted_->neighbour : posted_) = &what;
    last_posted_ = &what;
}

bool rank_fabric::remove_posted(schedule::step& what) noexcept {
    schedule::step* before = nullptr;
    for (schedule::step* each = posted_; each != nullptr; before = each, each = each->neighbour) {
        if (each != &what) continue;
        (before != nullptr ? before->neighbour : posted_) = what.neighbour;
        if (last_posted_ == &what) last_posted_ = before;
        return true;
    }
    return false;
}

schedule::step* rank_fabric::match_posted(const message& with) noexcept {
    for (schedule::step* each = posted_; each != nullptr; each = each->neighbour) {
        if (!matches(*each, with)) continue;
        remove_posted(*each);
        return each;
    }
    return nullptr;
}

}  // namespace ucg::sim
