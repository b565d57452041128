// The sending direction of an endpoint's byte stream: credits and the order of sends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ucp/core/request.hpp"
#include "ucp/stream/wire.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp {

// State of a send on a stream.
struct stream_send_state : send_state {
    std::uint64_t number = 0;  // its turn, see stream_sends::next_number; 0: the send is empty
};

// Owned by the endpoint's stream_channel. Owner context.
class stream_sends {
public:
    explicit stream_sends(ep& endpoint) noexcept : owner_(endpoint) {}

    // Returns true if `length` bytes may be sent now, ahead of all waiting sends.
    [[nodiscard]] bool may_send(std::size_t length) const noexcept {
        return turn_ > last_number_ && length <= limit_ - sent_;
    }
    // Returns how many of the `wanted` bytes may be sent now.
    [[nodiscard]] std::size_t grant(std::size_t wanted) const noexcept {
        return std::min<std::size_t>(wanted, limit_ - sent_);
    }
    void note_sent(std::size_t length) noexcept { sent_ += length; }
    // Returns the number of the next send that does not complete at once. Some sends wait here for
    // credits, others wait in the lane for resources, and their order may change. So sends take
    // turns by number; a send passes its turn on when all its bytes are handed over.
    [[nodiscard]] std::uint64_t next_number() noexcept { return ++last_number_; }
    [[nodiscard]] bool has_turn(std::uint64_t number) const noexcept { return number == turn_; }
    void pass_turn() noexcept { ++turn_; }
    // Makes `send` wait for its turn and for credits. It then continues by its protocol's progress.
    void block(request& send) noexcept;
    // Resumes waiting sends, as far as turns and credits allow.
    void resume();
    void unblock(request& send) noexcept;
    void raise_limit(std::uint64_t limit);
    void describe(ucs::vfs::directory& into) const;

private:
    [[nodiscard]] bool may_resume() noexcept;
    void resume_first();

    ep& owner_;
    std::uint64_t sent_ = 0;
    std::uint64_t limit_ = wire::first_stream_window;
    ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook> blocked_;
    std::uint64_t last_number_ = 0;
    std::uint64_t turn_ = 1;
    bool resuming_ = false;
};

}  // namespace ucp
