// Keeps senders from filling a receiver's memory with messages that nobody receives.
#pragma once

#include <cstddef>

#include "ucp/core/config.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/tag/shares.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Bytes that a receiver stores ahead of receives.
struct unexpected_limits {
    std::size_t ordinary;  // above it senders are held
    std::size_t hard;      // above it the sender that does not heed that most is cut off
    // A connection keeps that much above the ordinary limit whatever others do: more than a sender
    // that heeds it can have stored.
    std::size_t share;

    [[nodiscard]] static unexpected_limits of(const config& options) noexcept;
};

// The receiver's part: how much is stored, and who waits to hear that there is room again. Owned by
// the matcher; owner context. The sender's part is ucp/core/peer_room.cpp.
class unexpected_room {
public:
    explicit unexpected_room(const unexpected_limits& limits) noexcept : limits_(limits) {}

    void store(std::size_t length) noexcept { stored_ += length; }
    void give_back(std::size_t length) noexcept {
        stored_ -= length;
        if (!owed_.empty() && has_room()) [[unlikely]]
            answer_all();
    }
    // Announcements are not held against the room: who has none announces.
    void announce(std::size_t bytes) noexcept {
        ++announced_;
        announced_bytes_ += bytes;
    }
    void take_announced(std::size_t bytes) noexcept {
        --announced_;
        announced_bytes_ -= bytes;
    }

    [[nodiscard]] bool has_room() const noexcept { return stored_ <= limits_.ordinary; }
    [[nodiscard]] std::size_t stored() const noexcept { return stored_; }
    [[nodiscard]] std::size_t announced() const noexcept { return announced_; }
    [[nodiscard]] std::size_t announced_bytes() const noexcept { return announced_bytes_; }
    // Bytes of messages and announcements.
    [[nodiscard]] std::size_t kept() const noexcept { return stored_ + announced_bytes_; }

    // --- senders that are held and send on, see tag_matcher::relieve ---
    [[nodiscard]] const unexpected_limits& limits() const noexcept { return limits_; }
    // Returns whether messages that are stored from now on count for their connections.
    [[nodiscard]] bool is_crowded() const noexcept { return kept() > limits_.ordinary; }
    [[nodiscard]] connection_shares& shares() noexcept { return shares_; }
    // Returns whether a sender has to be cut off.
    [[nodiscard]] bool is_overfull() const noexcept { return kept() > next_look_; }
    // No sender can be cut off: the next look is when more has come.
    void look_when_more_came() noexcept { next_look_ = kept() + limits_.share / 16; }
    void look_at_hard_limit() noexcept { next_look_ = limits_.hard; }

    // The sender behind this endpoint asks.
    void asked(ep& by);

    // This sender defers what follows.
    void stopped(peer& sender) noexcept { stopped_.push_back(sender); }
    // A receive or a probe found nothing: what it wants may be deferred by any of them.
    void missed() noexcept {
        if (!stopped_.empty()) [[unlikely]]
            ask_for_more();
    }

private:
    void answer_all();
    [[gnu::noinline, gnu::cold]] void ask_for_more() noexcept;

    const unexpected_limits limits_;
    std::size_t stored_ = 0;
    std::size_t announced_ = 0;
    std::size_t announced_bytes_ = 0;
    std::size_t next_look_ = limits_.hard;
    connection_shares shares_;
    ucs::datastruct::auto_list<ep, &ep::owed_hook> owed_;
    ucs::datastruct::auto_list<peer, &peer::stopped_hook> stopped_;
};

// Asks the receiver behind this endpoint for room.
void ask_for_room(const ep& to);

// Registers the handlers of questions and answers.
void flow_listen(worker& owner, uct::iface& on);

}  // namespace ucp
