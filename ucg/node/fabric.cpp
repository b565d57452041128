#include "ucg/node/fabric.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "ucg/node/log.hpp"
#include "ucg/node/status_word.hpp"

namespace ucg::node {

fabric::fabric(const segment& memory, watch& lives, rank_t me, early_limit& limit,
               std::size_t early_bytes)
    : memory_(memory),
      lives_(lives),
      me_(me),
      limit_(limit),
      early_bytes_(early_bytes),
      patience_(memory, me, patience::usual(memory.ranks())) {
    for (rank_t other = 0; other < memory.ranks(); ++other)
        peers_.emplace_back(*this, limit, other);
}

fabric::~fabric() {
    tell(memory_.control_of(me_).silent, word_of(leaves_for_));
}

void fabric::give_up(ucs_status_t why) noexcept {
    leaves_for_ = why;
    tell(memory_.control_of(me_).silent, word_of(why));
    call_sleepers(memory_, me_);
    for (rank_t rank = 0; rank < size(); ++rank)
        if (rank != me_ && peers_[rank].lost == UCS_OK) lose(peers_[rank], why);
}

void fabric::post(step& what) noexcept {
    rests_ = false;
    switch (what.what) {
        case schedule::action::send:
            if (peer& to = peers_[what.peer]; to.lost != UCS_OK) {
                what.owner->complete(what, to.lost);
            } else {
                to.sends.append(what);
                (void)send(to);
            }
            break;
        case schedule::action::receive:
            post_receive(what);
            break;
        case schedule::action::reduce:
        case schedule::action::copy:
            schedule::perform(what);
            what.owner->complete(what, UCS_OK);
            break;
        case schedule::action::together:
            what.owner->complete(what, UCS_ERR_UNSUPPORTED);
            break;
    }
}

// What is half in a ring stays in step: its rest is sent without content, so that nobody is to use
// it, or received to nowhere.
void fabric::cancel(step& what) noexcept {
    peer& with = peers_[what.peer];
    if (what.what == schedule::action::send) {
        // The rest of one that was canceled before may still be going out, in front of this one.
        const bool is_half_out = with.begun && with.abandoned == 0 && with.sends.first == &what;
        if (is_half_out) {
            with.abandoned = what.bytes;
            with.out.disown();
        }
        if (!with.sends.remove(what)) return;
    } else if (what.what == schedule::action::receive) {
        if (with.target == &what)
            with.target = nullptr;
        else if (!with.receives.remove(what))
            return;
    } else {
        return;
    }
    what.owner->complete(what, UCS_ERR_CANCELED);
}

ucs_status_t fabric::enter(schedule::operation& what, schedule::sequence_t& number) noexcept {
    number = numbers_.take(what.numbered());
    tell(begun_by(me_, what.numbered()), number + 1);
    rests_ = false;
    try {
        running_.push_back({number, &what, false});
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
    for (const frame& each : told_)
        if (each.sequence == number) return status_in(each.status);
    return UCS_OK;
}

// Whoever was told of a failure tells all others as well, because a ring that is left alone does
// not bring the news: but all read the ring of the rank that they wait for.
void fabric::leave(schedule::operation& what) noexcept {
    const schedule::sequence_t number = what.number();
    const ucs_status_t status = what.status();
    const running* const mine = find(number);
    const bool announced = mine != nullptr && mine->announced;
    std::erase_if(running_, [&](const running& each) { return each.which == &what; });
    std::erase_if(told_, [&](const frame& each) { return each.sequence == number; });
    if (status == UCS_OK) return;
    // Others may be one operation ahead, and hear of the dead rank only by who leaves for it.
    if (status == UCS_ERR_ENDPOINT_TIMEOUT) leaves_for_ = status;
    for (peer& each : peers_) {
        if (each.head.sequence == number) each.aside.reset();
        each.give_back(each.early.remove_operation(number));
    }
    if (!announced) tell_all(number, status);
}

void fabric::announce(schedule::operation& what, ucs_status_t why) noexcept {
    if (running* const mine = find(what.number())) mine->announced = true;
    tell_all(what.number(), why);
}

void fabric::tell_all(schedule::sequence_t number, ucs_status_t why) noexcept {
    frame said{};
    said.sequence = number;
    said.kind = static_cast<std::uint32_t>(frame_kind::announcement);
    said.status = word_of(why);
    rests_ = false;
    for (rank_t rank = 0; rank < size(); ++rank) {
        if (rank == me_ || peers_[rank].lost != UCS_OK) continue;
        try {
            peers_[rank].announcements.push_back(said);
        } catch (const std::bad_alloc&) {
            return give_up(UCS_ERR_NO_MEMORY);  // needs none, and is heard
        }
        (void)send(peers_[rank]);
    }
}

void fabric::hear(const frame& said) noexcept try {
    const ucs_status_t why = status_in(said.status);
    if (running* const failed = find(said.sequence)) {
        failed->which->fail_as_told(why);
    } else if (numbers_.ahead(said.sequence) != 0 && told_.size() < 1024) {
        told_.push_back(said);
        told_.back().status = word_of(why);
    }
} catch (const std::bad_alloc&) {
    give_up(UCS_ERR_NO_MEMORY);  // it would wait for ever in that operation
}

std::uint64_t& fabric::begun_by(rank_t rank, schedule::series of) const noexcept {
    return memory_.control_of(rank).begun[static_cast<std::size_t>(of)];
}

std::vector<rank_t> fabric::absent(const schedule::operation& what) const {
    std::vector<rank_t> ranks;
    for (rank_t rank = 0; rank < size(); ++rank)
        if (look(begun_by(rank, what.numbered())) <= what.number()) ranks.push_back(rank);
    return ranks;
}

fabric::running* fabric::find(schedule::sequence_t number) noexcept {
    for (running& each : running_)
        if (each.number == number) return &each;
    return nullptr;
}

bool fabric::is_resting() noexcept {
    constexpr unsigned look_every = 32;
    return rests_ && ++rested_ % look_every != 0;
}

bool fabric::progress() noexcept {
    if (is_resting()) return false;
    bool moved = false;
    for (peer& each : peers_) {
        if (each.lost != UCS_OK) continue;
        moved |= receive(each);
        moved |= send(each);
    }
    // Also while something moves: one rank that sends on and on does not hide that another died.
    constexpr unsigned between_looks_at_the_clock = 64;
    if (++looks_ % between_looks_at_the_clock == 0) patrol();
    rests_ = !moved && running_.empty() && std::ranges::none_of(peers_, [](const peer& each) {
        return each.lost == UCS_OK && each.is_busy();
    });
    return moved;
}

ucs_status_t fabric::wait(schedule::operation& until) noexcept {
    patience_.wait_for([&] { return until.status() != UCS_INPROGRESS; },
                       [this] { return progress(); }, [this] { patrol(); });
    return until.status();
}

// Whoever died or left may have sent all that is expected of it: that is read first. Who left with
// an operation that failed may not have told all others, because their rings were full.
void fabric::patrol() noexcept {
    constexpr ucs::time::nanoseconds between = 10 * ucs::time::millisecond;
    const ucs::time::nanoseconds now = ucs::time::now();
    if (now - last_patrol_ < between) return;
    last_patrol_ = now;
    for (rank_t rank = 0; rank < size(); ++rank) {
        peer& each = peers_[rank];
        const bool waits =
            each.receives.first != nullptr || each.target != nullptr || each.sends.first != nullptr;
        // A peer whose ring is being read, further up on the stack, is looked at the next time.
        if (!waits || each.lost != UCS_OK || each.receiving || rank == me_) continue;
        const std::uint64_t left = look(memory_.control_of(rank).silent);
        if (left == 0 && !lives_.is_dead(rank)) continue;
        if (!receive(each)) lose(each, left != 0 ? status_in(left) : UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

// One step at a time: each that ends may change the queues.
void fabric::lose(peer& which, ucs_status_t why) noexcept {
    which.lost = why;
    if (step* const target = std::exchange(which.target, nullptr))
        target->owner->complete(*target, why);
    for (queue* const each : {&which.receives, &which.sends}) {
        while (step* const first = each->first) {
            each->remove(*first);
            first->owner->complete(*first, why);
        }
    }
}

}  // namespace ucg::node
