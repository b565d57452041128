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

    [[nodiscard]] static unexpected_limits from_config(const config& options) noexcept;
};

// Receiver's part: counts the stored bytes and knows the senders that wait for credits. Owned by
// the matcher; owner context. The sender's part is in ucp/proto/credits.cpp.
class unexpected_memory {
public:
    explicit unexpected_memory(const unexpected_limits& limits) noexcept : limits_(limits) {}

    void store(std::size_t length) noexcept { stored_ += length; }
    void remove_stored(std::size_t length) noexcept {
        stored_ -= length;
        if (!credit_waiters_.empty() && can_grant()) [[unlikely]]
            grant_all();
    }
    // RTS messages do not count against the ordinary limit, because senders without credits send
    // them.
    void add_rts(std::size_t bytes) noexcept {
        ++rts_count_;
        rts_bytes_ += bytes;
    }
    void remove_rts(std::size_t bytes) noexcept {
        --rts_count_;
        rts_bytes_ -= bytes;
    }

    [[nodiscard]] bool can_grant() const noexcept { return stored_ <= limits_.ordinary; }
    [[nodiscard]] std::size_t stored() const noexcept { return stored_; }
    [[nodiscard]] std::size_t rts_count() const noexcept { return rts_count_; }
    [[nodiscard]] std::size_t rts_bytes() const noexcept { return rts_bytes_; }
    // Returns the bytes of stored messages and RTS messages.
    [[nodiscard]] std::size_t kept() const noexcept { return stored_ + rts_bytes_; }

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
    void credits_requested(ep& sender);

    // This sender has reached its RTS limit and defers further messages.
    void add_deferring(peer& sender) noexcept { deferring_peers_.push_back(sender); }
    // A receive or a probe found no message. Any of the stopped senders may be deferring it.
    void missed() noexcept {
        if (!deferring_peers_.empty()) [[unlikely]]
            request_more_rts();
    }

private:
    void grant_all();
    [[gnu::noinline, gnu::cold]] void request_more_rts() noexcept;

    const unexpected_limits limits_;
    std::size_t stored_ = 0;
    std::size_t rts_count_ = 0;
    std::size_t rts_bytes_ = 0;
    std::size_t next_check_ = limits_.hard;
    connection_shares shares_;
    ucs::datastruct::auto_list<ep, &ep::credit_waiter_hook> credit_waiters_;
    ucs::datastruct::auto_list<peer, &peer::deferring_hook> deferring_peers_;
};

// Requests credits from the receiver behind this endpoint.
void send_credit_request(const ep& endpoint);

// Registers the handlers of credit requests and grants, and of requests for more RTS messages.
void flow_listen(worker& owner, uct::iface& iface);

}  // namespace ucp
