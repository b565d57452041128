// Keeps senders from filling a receiver's memory with messages that nobody receives.
#pragma once

#include <cstddef>

#include "ucp/core/peer.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// The receiver's part: how much is stored, and who waits to hear that there is room again. Owned by
// the matcher; owner context. The sender's part is ucp/core/peer_room.cpp.
class unexpected_room {
public:
    explicit unexpected_room(std::size_t limit) noexcept : limit_(limit) {}

    void store(std::size_t length) noexcept { stored_ += length; }
    void give_back(std::size_t length) noexcept {
        stored_ -= length;
        if (!owed_.empty() && has_room()) [[unlikely]]
            answer_all();
    }
    // Announcements are not held against the room: who has none announces.
    void announce() noexcept { ++announced_; }
    void take_announced() noexcept { --announced_; }

    [[nodiscard]] bool has_room() const noexcept { return stored_ <= limit_; }
    [[nodiscard]] std::size_t stored() const noexcept { return stored_; }
    [[nodiscard]] std::size_t announced() const noexcept { return announced_; }
    [[nodiscard]] std::size_t announced_bytes() const noexcept {
        return announced_ * eager_budget::message_cost;
    }

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

    const std::size_t limit_;
    std::size_t stored_ = 0;
    std::size_t announced_ = 0;
    ucs::datastruct::auto_list<ep, &ep::owed_hook> owed_;
    ucs::datastruct::auto_list<peer, &peer::stopped_hook> stopped_;
};

// Asks the receiver behind this endpoint for room.
void ask_for_room(const ep& to);

// Registers the handlers of questions and answers.
void flow_listen(worker& owner, uct::iface& on);

}  // namespace ucp
