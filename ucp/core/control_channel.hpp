// The control messages to a peer: sent at once, queued for room, or held until its lanes are ready.
#pragma once

#include "ucp/core/control.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

// One object per peer. Owner context.
class control_channel {
public:
    using message_list =
        ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook>;

    explicit control_channel(peer& to) noexcept : to_(to) {}

    // Sends a control message, at once or when there is room. If there is no memory for a message
    // that has to wait, the message is lost and false is returned; the connection then fails with
    // the worker's next progress, because the caller is in the middle of other work.
    bool send(uct::am_id id, std::span<const std::byte> header,
              std::span<const std::byte> body = {}, control_sender sender = {}) noexcept;
    // The same over a lane that may carry it although others have to wait.
    bool send_over(uct::ep& over, const control_message::content& message) noexcept;

    // Holds messages from now on until the lanes are open (connected paired lanes, say).
    void set_open(bool is_open) noexcept { is_open_ = is_open; }
    // Sends the held messages over a lane.
    void release_held(uct::ep& over) noexcept { release_all(held_, over); }

    // Returns whether control messages are still sent: neither a lost lane nor a limit has ended
    // that.
    [[nodiscard]] bool is_sent() const noexcept { return is_sent_; }
    void end() noexcept { is_sent_ = false; }
    // Sends no further messages and drops those that wait, because the peer exceeds a limit.
    void end_for_limit();
    [[nodiscard]] bool has_passed_limit() const noexcept { return has_passed_limit_; }
    // Returns whether a message was lost for lack of memory.
    [[nodiscard]] bool has_lost() const noexcept { return has_lost_; }

    // Returns whether the messages that wait for room on the lanes are fewer than an unproven
    // sender may cause.
    [[nodiscard]] bool has_room_for_strangers() const noexcept;
    // Drops all messages that wait, those of operations as well. Their endpoints end them.
    void drop_waiting() noexcept;

    // Drops a message that has left its queue.
    static void drop(uct::pending_request& queued, void*);
    static void drop_all(message_list& all);
    static void release_all(message_list& all, uct::ep& over) noexcept;
    // Moves the messages that wait for room on a lane into a list.
    static void take_queue(uct::ep& from, message_list& into) noexcept;

private:
    bool lose(const control_message::content& message) noexcept;

    peer& to_;
    message_list held_;
    bool is_open_ = true;
    bool is_sent_ = true;
    bool has_passed_limit_ = false;
    bool has_lost_ = false;
};

}  // namespace ucp
