// A control message that waits for room on its lane.
#pragma once

#include <boost/intrusive/parent_from_member.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/ep.hpp"

namespace ucp {

class peer;

// Made only when the lane had no room; holds a reference to the peer, so that the lane lives until
// the message has left. Frees itself. Owner context.
class control_message {
public:
    // Sends at once, or queues a copy.
    static void send(peer& to, uct::am_id id, std::span<const std::byte> header,
                     std::span<const std::byte> body);

    // Throws away a message of a lane that failed.
    static void drop(uct::pending_request& queued);

    // Whether a queued request is a control message.
    static bool is(const uct::pending_request& queued) noexcept;

private:
    control_message(peer& to, uct::am_id id, std::vector<std::byte> bytes) noexcept;
    ~control_message();
    static control_message& of(uct::pending_request& queued) noexcept;
    static ucs_status_t progress(uct::pending_request& queued);

    uct::pending_request pending_;
    peer& to_;
    uct::am_id id_;
    std::vector<std::byte> bytes_;
};

}  // namespace ucp
