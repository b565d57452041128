// Reading of a message's data from the sender's memory.
#pragma once

#include "ucp/rndv/rndv_recv.hpp"

namespace ucp {

// Owner context.

// Returns whether today's lanes can read the memory that the RTS describes.
[[nodiscard]] bool is_readable(const peer& from, const rts_info& message) noexcept;

// The same for memory of the sender's device.
[[nodiscard]] bool is_readable_on_device(const peer& from, const rts_info& message) noexcept;

// Registers the receive's buffer in advance, so that the transfer itself does not wait for it, and
// keeps the keys to the sender's memory until everything is read. Returns false if the device of
// the first rail cannot use the buffer, or if there is no memory.
[[nodiscard]] bool prepare_read(request& receive, const peer& from,
                                std::unique_ptr<mem::access_path> memory) noexcept;

// Reads the data from state.offset to `end`, and takes the last count of state.parts back when that
// is done.
void read_data(request& receive, std::size_t end);

// Takes a read that waits for room out of its lane's queue.
void unqueue_read(request& receive);

// For a read that waited for room and was removed from the queue because its lane is lost: the
// endpoint ends its receive, which need not wait for it.
[[nodiscard]] bool rndv_is_read(const uct::pending_request& queued) noexcept;
void rndv_drop_read(uct::pending_request& queued) noexcept;

// Ends the access by keys that the receive holds or has exposed.
void end_access(rndv_recv& state) noexcept;

// Returns the receive that these parts belong to.
[[nodiscard]] inline request& receive_of(uct::completion& parts) noexcept {
    return request::of(*boost::intrusive::get_parent_from_member(&parts, &rndv_recv::parts));
}

}  // namespace ucp
