// Transfer of messages into and out of the rings.
#include <algorithm>
#include <cstring>
#include <new>

#include "ucg/node/rings/fabric.hpp"
#include "ucg/schedule/log.hpp"

namespace ucg::node {
namespace {

// A message is read in pieces of a fraction of the ring, so that its sender can continue meanwhile.
constexpr std::uint64_t parts = 4;

bool matches(const schedule::step& receive, const frame& head) noexcept {
    return receive.channel == head.channel && receive.owner->number() == head.sequence;
}

}  // namespace

// --- send ---

bool fabric::send(peer& to) noexcept {
    if (to.sending) return false;  // the call further up on the stack continues
    to.sending = true;
    bool moved = false;
    while (to.lost == UCS_OK && send_next(to))
        moved = true;
    to.sending = false;
    if (to.out.publish()) {
        moved = true;
        wake_sleepers(memory_, me_);
    }
    if (to.out.is_broken() && to.lost == UCS_OK) fail_peer(to, UCS_ERR_IO_ERROR);
    return moved;
}

// Continues the current message, or begins the next one. Returns false if the ring has no room or
// nothing is left to send.
bool fabric::send_next(peer& to) noexcept {
    if (!to.send_started) {
        if (to.failure_notices.empty() && to.sends.first == nullptr) return false;
        if (!to.out.can_begin()) return false;
        if (!to.failure_notices.empty()) {
            to.out.begin(to.failure_notices.back());
            to.failure_notices.pop_back();
            return true;
        }
        if (!to.out.can_disown()) return false;
        const schedule::step& next = *to.sends.first;
        to.out.begin({next.owner->number(), next.bytes, next.channel,
                      static_cast<std::uint32_t>(frame_kind::message), 0});
        to.send_started = true;
        to.sent = 0;
    }
    schedule::step* const now = to.abandoned == 0 ? to.sends.first : nullptr;
    const std::uint64_t bytes = now != nullptr ? now->bytes : to.abandoned;
    const std::size_t copied = to.out.add(now != nullptr ? now->from : nullptr, bytes, to.sent);
    to.sent += copied;
    if (to.sent != bytes) {
        if (to.out.publish()) wake_sleepers(memory_, me_);
        return false;
    }
    to.send_started = false;
    to.abandoned = 0;
    if (now != nullptr) {
        to.sends.remove(*now);
        // Publishes before the sender is notified, so that the receiver waits no longer than
        // needed.
        if (to.out.publish()) wake_sleepers(memory_, me_);
        now->owner->complete(*now, UCS_OK);
    }
    return true;
}

// --- receive ---

// Early messages may fill memory. So the ring of a rank is left unread if much of that rank is
// stored, and so are all rings while much is stored in total. A ring is read nevertheless if this
// rank expects something of its sender: a message for a posted receive, or that the sender reads
// what is sent to it, or the reason why not.
// This causes no deadlock: whenever the receive of a message is posted, the ring is read until the
// message has come. So a send ends at the latest when its receive is posted, and algorithms may not
// rely on more over a network either.
bool fabric::should_read(const peer& from) const noexcept {
    return (from.used() <= early_bytes_ && !limit_.is_half_used()) ||
           from.receives.first != nullptr || from.sends.first != nullptr ||
           (from.in_message && !from.stored);
}

// One call reads about as much as the ring holds, however fast the sender refills it, so that other
// ranks and groups get their turn. A call that leaves something in the ring has read something, so
// its caller calls again before it sleeps.
bool fabric::receive(peer& from) noexcept try {
    if (from.receiving) return false;
    from.receiving = true;
    bool moved = false;
    const std::uint64_t before = from.in.position();
    while (from.lost == UCS_OK && should_read(from) && from.in.ready() != 0 &&
           from.in.position() - before < memory_.layout().ring_bytes) {
        moved = true;
        if (!from.in_message)
            receive_head(from);
        else
            receive_some(from);
        if (from.in_message && from.received == from.head.bytes) end_message(from);
    }
    from.receiving = false;
    if (from.in.publish()) wake_sleepers(memory_, me_);
    if (from.in.is_broken() && from.lost == UCS_OK) fail_peer(from, UCS_ERR_IO_ERROR);
    return moved;
} catch (const std::bad_alloc&) {
    from.receiving = false;
    fail_peer(from, UCS_ERR_NO_MEMORY);
    return true;
}

void fabric::receive_head(peer& from) {
    from.head = from.in.head();
    from.target = nullptr;
    from.stored.reset();
    from.received = 0;
    if (from.head.kind == static_cast<std::uint32_t>(frame_kind::failure)) {
        receive_failure(from.head);
        return;
    }
    if (from.head.kind != static_cast<std::uint32_t>(frame_kind::message)) {
        fail_peer(from, UCS_ERR_IO_ERROR);
        return;
    }
    from.in_message = true;
    for (schedule::step* each = from.receives.first; each != nullptr; each = each->next_in_fabric) {
        if (!matches(*each, from.head)) continue;
        from.receives.remove(*each);
        if (each->bytes == from.head.bytes)
            from.target = each;
        else
            each->owner->complete(*each, UCS_ERR_MESSAGE_TRUNCATED);
        return;
    }
    // The operation ended on this rank with a failure, so the message is dropped.
    if (numbers_.starts_until(from.head.sequence) == 0 && find(from.head.sequence) == nullptr)
        return;
    from.stored = from.early.add({from.head.sequence, from.head.channel}, from.head.bytes);
    from.take(early_messages::cost((*from.stored)->second));
}

// A rank that sends messages without end that are not expected would fill the memory of this one,
// which reads its ring for as long as it expects something else of that rank.
void fabric::cut_off(peer& from) noexcept {
    ucs::log::error(node_log,
                    "rank {}: messages of rank {} that nobody here has asked for take up {} bytes, "
                    "more than those of any other rank; they are dropped, and nothing more is "
                    "taken from it",
                    me_, from.rank, from.used());
    from.stored.reset();
    from.early.clear();
    from.give_back(from.used());
    fail_peer(from, UCS_ERR_EXCEEDS_LIMIT);
}

void fabric::drop_stored(peer& from) noexcept {
    from.give_back(from.early.remove(*from.stored));
    from.stored.reset();
}

void fabric::receive_some(peer& from) {
    const std::uint64_t max_bytes = memory_.layout().ring_bytes / parts / line * line;
    const auto [data, bytes] = from.in.next(std::min(from.head.bytes - from.received, max_bytes));
    if (from.target != nullptr) {
        std::memcpy(static_cast<std::byte*>(from.target->into) + from.received, data, bytes);
    } else if (from.stored) {
        early_message& message = (*from.stored)->second;
        const std::size_t before = early_messages::cost(message);
        message.append(data, bytes);
        from.take(early_messages::cost(message) - before);
    }
    from.in.skip(bytes);
    from.received += bytes;
    // The padding of the last frame belongs to the message and is there with it.
    if (from.received == from.head.bytes) from.in.skip_padding();
    if (from.received != from.head.bytes && from.in.publish()) wake_sleepers(memory_, me_);
}

// If the sender disowned the message, its receive waits until the failure is reported.
void fabric::end_message(peer& from) noexcept {
    from.in_message = false;
    if (from.in.is_disowned()) {
        if (schedule::step* const target = std::exchange(from.target, nullptr))
            from.receives.append(*target);
        if (from.stored) drop_stored(from);
        return;
    }
    if (from.stored) (*from.stored)->second.complete = true;
    from.stored.reset();
    if (schedule::step* const target = std::exchange(from.target, nullptr))
        target->owner->complete(*target, UCS_OK);
}

// Takes over the bytes of an early message, also if the rest is still on its way.
void fabric::post_receive(schedule::step& step) noexcept {
    peer& from = peers_[step.peer];
    const auto found = from.early.find({step.owner->number(), step.channel});
    if (found != from.early.end())
        take_early(from, found, step);
    else if (from.lost != UCS_OK)
        step.owner->complete(step, from.lost);
    else
        from.receives.append(step);
}

void fabric::take_early(peer& from, early_messages::position found,
                        schedule::step& receive) noexcept {
    const early_message& message = found->second;
    const bool fits = message.bytes == receive.bytes;
    if (fits && !message.content.empty())
        std::memcpy(receive.into, message.content.data(), message.content.size());
    const bool complete = message.complete;
    if (from.stored == found) {
        from.stored.reset();
        if (fits) from.target = &receive;
    }
    from.give_back(from.early.remove(found));
    if (!fits)
        receive.owner->complete(receive, UCS_ERR_MESSAGE_TRUNCATED);
    else if (complete)
        receive.owner->complete(receive, UCS_OK);
    else if (from.lost != UCS_OK)
        fail_peer(from, from.lost);  // the rest will not come
}

}  // namespace ucg::node
