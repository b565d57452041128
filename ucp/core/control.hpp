// A control message that waits for room on its lane.
#pragma once

#include <boost/intrusive/parent_from_member.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/ep.hpp"

namespace ucp {

class peer;
class worker;

// The part of the program that is notified of the end of a control message: `ended` is called once,
// when the message has left or will not leave. `is_stopped`: the peer may not send us any more,
// see control_channel::end_for_limit.
struct control_sender {
    void (*ended)(worker& owner, std::uint64_t key, bool is_stopped) = nullptr;
    std::uint64_t key = 0;

    void end(worker& owner, bool is_stopped = false) const {
        if (ended != nullptr) ended(owner, key, is_stopped);
    }
};

// Made only when the lane had no room; holds a reference to the peer, so that the lane lives until
// the message has left. Frees itself. Owner context.
class control_message {
public:
    struct content {
        uct::am_id id;
        std::span<const std::byte> header;
        std::span<const std::byte> body;
        control_sender sender;
    };
    // Sends the message at once, or queues a copy. False: there was no memory for the copy.
    [[nodiscard]] static bool send(peer& to, uct::ep& over, const content& message) noexcept;

    // Makes a copy that waits for a lane, for a list of the caller's. nullptr: there was no memory.
    [[nodiscard]] static uct::pending_request* hold(peer& to, const content& message) noexcept;
    // Sends a held message over a lane, or queues it there. The message must be in no list.
    static void release(uct::pending_request& held, uct::ep& over) noexcept;

    // Destroys a message that is in no queue any more.
    static void drop(uct::pending_request& queued, bool is_stopped = false);

    // Returns whether a queued request is a control message.
    static bool is_control(const uct::pending_request& queued) noexcept;

private:
    control_message(peer& to, const content& message, std::unique_ptr<std::byte[]> bytes) noexcept;
    ~control_message();
    static control_message& of(uct::pending_request& queued) noexcept;
    // Memory that the message takes while it waits.
    [[nodiscard]] std::uint64_t cost() const noexcept;
    static ucs_status_t progress(uct::pending_request& queued) noexcept;

    uct::pending_request pending_;
    peer& to_;
    uct::ep* over_ = nullptr;
    uct::am_id id_;
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t length_;
    control_sender sender_;
};

}  // namespace ucp
