// How messages go into and out of the rings.
#include <algorithm>
#include <cstring>
#include <new>

#include "ucg/node/fabric.hpp"
#include "ucg/node/log.hpp"

namespace ucg::node {
namespace {

// A message is read in pieces of a part of the ring, so that its sender can go on meanwhile.
constexpr std::uint64_t parts = 4;

bool matches(const schedule::step& receive, const frame& head) noexcept {
    return receive.channel == head.channel && receive.owner->number() == head.sequence;
}

}  // namespace

void fabric::queue::append(step& what) noexcept {
    what.neighbour = nullptr;
    (last != nullptr ? last->neighbour : first) = &what;
    last = &what;
}

bool fabric::queue::remove(step& what) noexcept {
    step* before = nullptr;
    for (step* each = first; each != nullptr; before = each, each = each->neighbour) {
        if (each != &what) continue;
        (before != nullptr ? before->neighbour : first) = what.neighbour;
        if (last == &what) last = before;
        return true;
    }
    return false;
}

// --- out ---

bool fabric::send(peer& to) noexcept {
    if (to.sending) return false;  // the one that is on the stack goes on
    to.sending = true;
    bool moved = false;
    while (to.lost == UCS_OK && send_next(to))
        moved = true;
    to.sending = false;
    if (to.out.publish()) {
        moved = true;
        call_sleepers(memory_, me_);
    }
    if (to.out.broken() && to.lost == UCS_OK) lose(to, UCS_ERR_IO_ERROR);
    return moved;
}

// Goes on with the message that is half out, or begins the next one. False: no room, or nothing
// left.
bool fabric::send_next(peer& to) noexcept {
    if (!to.begun) {
        if (to.announcements.empty() && to.sends.first == nullptr) return false;
        if (!to.out.can_begin()) return false;
        if (!to.announcements.empty()) {
            to.out.begin(to.announcements.back());
            to.announcements.pop_back();
            return true;
        }
        if (!to.out.can_disown()) return false;
        const step& next = *to.sends.first;
        to.out.begin({next.owner->number(), next.bytes, next.channel,
                      static_cast<std::uint32_t>(frame_kind::message), 0});
        to.begun = true;
        to.done = 0;
    }
    step* const now = to.abandoned == 0 ? to.sends.first : nullptr;
    const std::uint64_t bytes = now != nullptr ? now->bytes : to.abandoned;
    const std::size_t some = to.out.add(now != nullptr ? now->from : nullptr, bytes, to.done);
    to.done += some;
    if (to.done != bytes) {
        if (to.out.publish()) call_sleepers(memory_, me_);
        return false;
    }
    to.begun = false;
    to.abandoned = 0;
    if (now != nullptr) {
        to.sends.remove(*now);
        // Published before the sender hears of it, so that whoever waits does so no longer than
        // needed.
        if (to.out.publish()) call_sleepers(memory_, me_);
        now->owner->complete(*now, UCS_OK);
    }
    return true;
}

// --- in ---

// Early messages may fill memory, so a rank of which much is kept already is left alone, and so are
// all while much is kept of all together, unless this rank expects something of it: that it sends
// what a receive is posted for, or that it reads what is sent to it, or says why not. No deadlock
// comes of it: whenever the receive of a message is posted, the ring is read until the message is
// there; so a send ends at the latest when its receive is posted, which is what algorithms may
// count on over networks as well.
bool fabric::wants(const peer& from) const noexcept {
    return (from.used() <= early_bytes_ && !limit_.is_half_used()) ||
           from.receives.first != nullptr || from.sends.first != nullptr ||
           (from.coming && !from.aside);
}

// One call reads about as much as the ring holds, however fast the sender fills it again: other
// ranks and groups have their turn. A call that leaves something in the ring has read something, so
// its caller hears that there was something and calls again before it sleeps.
bool fabric::receive(peer& from) noexcept try {
    if (from.receiving) return false;
    from.receiving = true;
    bool moved = false;
    const std::uint64_t before = from.in.position();
    while (from.lost == UCS_OK && wants(from) && from.in.ready() != 0 &&
           from.in.position() - before < memory_.like().ring_bytes) {
        moved = true;
        if (!from.coming)
            receive_head(from);
        else
            receive_some(from);
        if (from.coming && from.got == from.head.bytes) end_message(from);
    }
    from.receiving = false;
    if (from.in.publish()) call_sleepers(memory_, me_);
    if (from.in.broken() && from.lost == UCS_OK) lose(from, UCS_ERR_IO_ERROR);
    return moved;
} catch (const std::bad_alloc&) {
    from.receiving = false;
    lose(from, UCS_ERR_NO_MEMORY);
    return true;
}

void fabric::receive_head(peer& from) {
    from.head = from.in.head();
    from.target = nullptr;
    from.aside.reset();
    from.got = 0;
    if (from.head.kind == static_cast<std::uint32_t>(frame_kind::announcement)) {
        hear(from.head);
        return;
    }
    if (from.head.kind != static_cast<std::uint32_t>(frame_kind::message)) {
        lose(from, UCS_ERR_IO_ERROR);
        return;
    }
    from.coming = true;
    for (step* each = from.receives.first; each != nullptr; each = each->neighbour) {
        if (!matches(*each, from.head)) continue;
        from.receives.remove(*each);
        if (each->bytes == from.head.bytes)
            from.target = each;
        else
            each->owner->complete(*each, UCS_ERR_MESSAGE_TRUNCATED);
        return;
    }
    // Of an operation that ended here, which failed: nobody wants it.
    if (numbers_.ahead(from.head.sequence) == 0 && find(from.head.sequence) == nullptr) return;
    from.aside = from.early.add({from.head.sequence, from.head.channel}, from.head.bytes);
    from.take(early_messages::cost((*from.aside)->second));
}

// A rank that sends on and on what nobody asked for would fill the memory of this one, which reads
// its ring as long as it expects something else of that rank.
void fabric::cut_off(peer& from) noexcept {
    ucs::log::error(node_log,
                    "rank {}: messages of rank {} that nobody here has asked for take up {} bytes, "
                    "more than those of any other rank; they are dropped, and nothing more is "
                    "taken from it",
                    me_, from.rank, from.used());
    from.aside.reset();
    from.early.clear();
    from.give_back(from.used());
    lose(from, UCS_ERR_EXCEEDS_LIMIT);
}

void fabric::drop_aside(peer& from) noexcept {
    from.give_back(from.early.remove(*from.aside));
    from.aside.reset();
}

void fabric::receive_some(peer& from) {
    const std::uint64_t most = memory_.like().ring_bytes / parts / line * line;
    const auto [data, bytes] = from.in.look(std::min(from.head.bytes - from.got, most));
    if (from.target != nullptr) {
        std::memcpy(static_cast<std::byte*>(from.target->into) + from.got, data, bytes);
    } else if (from.aside) {
        early_message& message = (*from.aside)->second;
        const std::size_t before = early_messages::cost(message);
        message.append(data, bytes);
        from.take(early_messages::cost(message) - before);
    }
    from.in.skip(bytes);
    from.got += bytes;
    // The rest of a frame belongs to the message, and comes along with it.
    if (from.got == from.head.bytes) from.in.skip_padding();
    if (from.got != from.head.bytes && from.in.publish()) call_sleepers(memory_, me_);
}

// What its sender disowned is waited for until the news come why.
void fabric::end_message(peer& from) noexcept {
    from.coming = false;
    if (from.in.is_disowned()) {
        if (step* const target = std::exchange(from.target, nullptr)) from.receives.append(*target);
        if (from.aside) drop_aside(from);
        return;
    }
    if (from.aside) (*from.aside)->second.complete = true;
    from.aside.reset();
    if (step* const target = std::exchange(from.target, nullptr))
        target->owner->complete(*target, UCS_OK);
}

// What has come already is taken over, also when the rest is still on its way.
void fabric::post_receive(step& what) noexcept {
    peer& from = peers_[what.peer];
    const auto found = from.early.find({what.owner->number(), what.channel});
    if (found != from.early.end())
        take_early(from, found, what);
    else if (from.lost != UCS_OK)
        what.owner->complete(what, from.lost);
    else
        from.receives.append(what);
}

void fabric::take_early(peer& from, early_messages::position found, step& receive) noexcept {
    const early_message& message = found->second;
    const bool fitting = message.bytes == receive.bytes;
    if (fitting && !message.content.empty())
        std::memcpy(receive.into, message.content.data(), message.content.size());
    const bool complete = message.complete;
    if (from.aside == found) {
        from.aside.reset();
        if (fitting) from.target = &receive;
    }
    from.give_back(from.early.remove(found));
    if (!fitting)
        receive.owner->complete(receive, UCS_ERR_MESSAGE_TRUNCATED);
    else if (complete)
        receive.owner->complete(receive, UCS_OK);
    else if (from.lost != UCS_OK)
        lose(from, from.lost);  // the rest will not come
}

}  // namespace ucg::node
