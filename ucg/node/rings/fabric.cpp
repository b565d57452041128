#include "ucg/node/rings/fabric.hpp"

#include <algorithm>
#include <new>

#include "ucg/node/memory/layout.hpp"
#include "ucg/schedule/log.hpp"

namespace ucg::node {

fabric::fabric(const shared_memory& memory, watch& lives, rank_t me, early_limit& limit,
               std::size_t early_bytes)
    : memory_(memory),
      lives_(lives),
      me_(me),
      limit_(limit),
      early_bytes_(early_bytes),
      backoff_(usual_backoff(memory.ranks())),
      sleeper_(memory, me) {
    for (rank_t other = 0; other < memory.ranks(); ++other)
        peers_.emplace_back(*this, limit, other);
}

fabric::~fabric() {
    store_release(memory_.control_of(me_).silent, word_of(leave_status_));
}

void fabric::withdraw(ucs_status_t why) noexcept {
    leave_status_ = why;
    store_release(memory_.control_of(me_).silent, word_of(why));
    wake_sleepers(memory_, me_);
    for (rank_t rank = 0; rank < size(); ++rank)
        if (rank != me_ && peers_[rank].lost == UCS_OK) fail_peer(peers_[rank], why);
}

void fabric::post(schedule::step& step) noexcept {
    idle_ = false;
    switch (step.kind) {
        case schedule::action::send:
            if (peer& to = peers_[step.peer]; to.lost != UCS_OK) {
                step.owner->complete(step, to.lost);
            } else {
                to.sends.append(step);
                (void)send(to);
            }
            break;
        case schedule::action::receive:
            post_receive(step);
            break;
        case schedule::action::reduce:
        case schedule::action::copy:
            schedule::perform(step);
            step.owner->complete(step, UCS_OK);
            break;
        case schedule::action::node_collective:
            step.owner->complete(step, UCS_ERR_UNSUPPORTED);
            break;
    }
}

// A message that is partly in a ring keeps the ring in step: the rest of a send goes out without
// content and is disowned; the rest of a receive is dropped.
void fabric::cancel(schedule::step& step) noexcept {
    peer& remote = peers_[step.peer];
    if (step.kind == schedule::action::send) {
        // The rest of a send that was canceled earlier may still be going out, ahead of this one.
        const bool is_half_sent =
            remote.send_started && remote.abandoned == 0 && remote.sends.first == &step;
        if (is_half_sent) {
            remote.abandoned = step.bytes;
            remote.out.disown();
        }
        if (!remote.sends.remove(step)) return;
    } else if (step.kind == schedule::action::receive) {
        if (remote.target == &step)
            remote.target = nullptr;
        else if (!remote.receives.remove(step))
            return;
    } else {
        return;
    }
    step.owner->complete(step, UCS_ERR_CANCELED);
}

ucs_status_t fabric::begin_operation(schedule::operation& op, schedule::sequence_t& number) {
    number = numbers_.take(op.numbered());
    store_release(started_count(me_, op.numbered()), number + 1);
    idle_ = false;
    running_.push_back({number, &op, false});
    for (const frame& each : early_failures_)
        if (each.sequence == number) return status_in(each.status);
    return UCS_OK;
}

// A rank that learns of a failure reports it to all others as well. A ring that is left unread does
// not deliver the report, but every rank reads the ring of the rank that it waits for.
void fabric::end_operation(schedule::operation& op) noexcept {
    const schedule::sequence_t number = op.number();
    const ucs_status_t status = op.status();
    const running* const running_op = find(number);
    const bool reported = running_op != nullptr && running_op->reported;
    std::erase_if(running_, [&](const running& each) { return each.op == &op; });
    std::erase_if(early_failures_, [&](const frame& each) { return each.sequence == number; });
    if (status == UCS_OK) return;
    // Other ranks may be one operation ahead, and learn of the dead rank only from ranks that leave
    // because of it.
    if (status == UCS_ERR_ENDPOINT_TIMEOUT) leave_status_ = status;
    for (peer& each : peers_) {
        if (each.head.sequence == number) each.stored.reset();
        each.give_back(each.early.remove_operation(number));
    }
    if (!reported) report_failure(number, status);
}

void fabric::report_failure(schedule::operation& op, ucs_status_t why) noexcept {
    if (running* const running_op = find(op.number())) running_op->reported = true;
    report_failure(op.number(), why);
}

void fabric::report_failure(schedule::sequence_t number, ucs_status_t why) noexcept {
    frame notice{};
    notice.sequence = number;
    notice.kind = static_cast<std::uint32_t>(frame_kind::failure);
    notice.status = word_of(why);
    idle_ = false;
    for (rank_t rank = 0; rank < size(); ++rank) {
        if (rank == me_ || peers_[rank].lost != UCS_OK) continue;
        try {
            peers_[rank].failure_notices.push_back(notice);
        } catch (const std::bad_alloc&) {
            return withdraw(UCS_ERR_NO_MEMORY);  // needs no memory, and all ranks notice it
        }
        (void)send(peers_[rank]);
    }
}

void fabric::receive_failure(const frame& notice) noexcept try {
    const ucs_status_t why = status_in(notice.status);
    if (running* const failed = find(notice.sequence)) {
        failed->op->fail_as_notified(why);
    } else if (numbers_.starts_until(notice.sequence) != 0 && early_failures_.size() < 1024) {
        early_failures_.push_back(notice);
        early_failures_.back().status = word_of(why);
    }
} catch (const std::bad_alloc&) {
    withdraw(UCS_ERR_NO_MEMORY);  // otherwise this rank would wait for ever in that operation
}

std::uint64_t& fabric::started_count(rank_t rank, schedule::series series) const noexcept {
    return memory_.control_of(rank).begun[static_cast<std::size_t>(series)];
}

std::vector<rank_t> fabric::stragglers(const schedule::operation& op) const {
    std::vector<rank_t> ranks;
    for (rank_t rank = 0; rank < size(); ++rank)
        if (load_acquire(started_count(rank, op.numbered())) <= op.number()) ranks.push_back(rank);
    return ranks;
}

fabric::running* fabric::find(schedule::sequence_t number) noexcept {
    for (running& each : running_)
        if (each.number == number) return &each;
    return nullptr;
}

bool fabric::skips_poll() noexcept {
    constexpr unsigned poll_every = 32;
    return idle_ && ++idle_polls_ % poll_every != 0;
}

bool fabric::progress() noexcept {
    if (skips_poll()) return false;
    bool moved = false;
    for (peer& each : peers_) {
        if (each.lost != UCS_OK) continue;
        moved |= receive(each);
        moved |= send(each);
    }
    // Checks peers also while something advances, so that a rank which sends without end does not
    // hide that another one died.
    constexpr unsigned polls_per_clock_read = 64;
    if (++polls_ % polls_per_clock_read == 0) check_peers();
    idle_ = !moved && running_.empty() && std::ranges::none_of(peers_, [](const peer& each) {
        return each.lost == UCS_OK && each.is_busy();
    });
    return moved;
}

ucs_status_t fabric::wait(schedule::operation& op) noexcept {
    backoff_.wait_for([&] { return op.status() != UCS_INPROGRESS; }, [this] { return progress(); },
                      sleeper_, [this] { check_peers(); });
    return op.status();
}

// A rank that died or left may have sent all that is expected of it, so its ring is read first. A
// rank that left after a failed operation may not have notified all others, because their rings
// were full.
void fabric::check_peers() noexcept {
    constexpr ucs::time::nanoseconds between = 10 * ucs::time::millisecond;
    const ucs::time::nanoseconds now = ucs::time::now();
    if (now - last_peer_check_ < between) return;
    last_peer_check_ = now;
    for (rank_t rank = 0; rank < size(); ++rank) {
        peer& each = peers_[rank];
        const bool waits =
            each.receives.first != nullptr || each.target != nullptr || each.sends.first != nullptr;
        // If the peer's ring is being read further up on the stack, the next call checks it.
        if (!waits || each.lost != UCS_OK || each.receiving || rank == me_) continue;
        const std::uint64_t left = load_acquire(memory_.control_of(rank).silent);
        if (left == 0 && !lives_.is_dead(rank)) continue;
        if (!receive(each)) fail_peer(each, left != 0 ? status_in(left) : UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

// Takes one step at a time, because a step that ends may change the queues.
void fabric::fail_peer(peer& remote, ucs_status_t why) noexcept {
    remote.lost = why;
    if (schedule::step* const target = std::exchange(remote.target, nullptr))
        target->owner->complete(*target, why);
    for (schedule::step_queue* const each : {&remote.receives, &remote.sends}) {
        while (schedule::step* const first = each->first) {
            each->remove(*first);
            first->owner->complete(*first, why);
        }
    }
}

}  // namespace ucg::node
