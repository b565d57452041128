// Flow control of eager tagged messages: keeps senders from filling a receiver's memory with
// unexpected messages.
#pragma once

#include <cstddef>

#include "ucp/core/config.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/tag/shares.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Limits on the bytes that a receiver stores for messages without a receive.
struct unexpected_limits {
    std::size_t ordinary;  // above it, senders get no credits
    std::size_t hard;      // above it, the sender that ignores its window most is cut off
    // A connection may store this much above the ordinary limit, whatever other connections store.
    // It is more than a sender that respects its window can have stored.
    std::size_t share;

    [[nodiscard]] static unexpected_limits of(const config& options) noexcept;
};

// Receiver's part: counts the stored bytes and knows the senders that wait for credits. Owned by
// the matcher; owner context. The sender's part is in ucp/core/peer_room.cpp.
class unexpected_room {
public:
    explicit unexpected_room(const unexpected_limits& limits) noexcept : limits_(limits) {}

    void store(std::size_t length) noexcept { stored_ += length; }
    void give_back(std::size_t length) noexcept {
        stored_ -= length;
        if (!credit_waiters_.empty() && has_room()) [[unlikely]]
            grant_all();
    }
    // RTS messages do not count against the ordinary limit, because senders without credits send
    // them.
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
    // Returns the bytes of stored messages and RTS messages.
    [[nodiscard]] std::size_t kept() const noexcept { return stored_ + announced_bytes_; }

    // --- senders that ignore their window, see tag_matcher::relieve ---
    [[nodiscard]] const unexpected_limits& limits() const noexcept { return limits_; }
    // Returns true if messages stored from now on count for their connections.
    [[nodiscard]] bool is_crowded() const noexcept { return kept() > limits_.ordinary; }
    [[nodiscard]] connection_shares& shares() noexcept { return shares_; }
    // Returns true if a sender may have to be cut off.
    [[nodiscard]] bool is_overfull() const noexcept { return kept() > next_check_; }
    // No sender can be cut off now; check again after more has arrived.
    void check_after_growth() noexcept { next_check_ = kept() + limits_.share / 16; }
    void check_at_hard_limit() noexcept { next_check_ = limits_.hard; }

    // The sender behind this endpoint requests credits.
    void asked(ep& sender);

    // This sender has reached its RTS limit and defers further messages.
    void stopped(peer& sender) noexcept { stopped_.push_back(sender); }
    // A receive or a probe found no message. Any of the stopped senders may be deferring it.
    void missed() noexcept {
        if (!stopped_.empty()) [[unlikely]]
            ask_for_more();
    }

private:
    void grant_all();
    [[gnu::noinline, gnu::cold]] void ask_for_more() noexcept;

    const unexpected_limits limits_;
    std::size_t stored_ = 0;
    std::size_t announced_ = 0;
    std::size_t announced_bytes_ = 0;
    std::size_t next_check_ = limits_.hard;
    connection_shares shares_;
    ucs::datastruct::auto_list<ep, &ep::owed_hook> credit_waiters_;
    ucs::datastruct::auto_list<peer, &peer::stopped_hook> stopped_;
};

// Requests credits from the receiver behind this endpoint.
void ask_for_room(const ep& endpoint);

// Registers the handlers of credit requests and grants.
void flow_listen(worker& owner, uct::iface& iface);

}  // namespace ucp
