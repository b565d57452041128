// The byte stream of an endpoint, and a worker's streams.
#pragma once

#include <memory>

#include "ucp/core/shared_limit.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/stream/channel.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucp {

// Slot of an endpoint.
struct ep_stream {
    explicit ep_stream(ep&) noexcept {}

    std::unique_ptr<stream_channel> channel;  // made at first use
    bool is_reader_gone = false;              // the peer's program reads the stream no more
};

// Slot of a peer: its share of worker_streams::unread.
struct peer_unread {
    explicit peer_unread(peer&) noexcept {}

    limit_share share;
};

using stream_list = ucs::datastruct::auto_list<stream_channel, &stream_channel::ready_hook>;

// Slot of a worker.
struct worker_streams {
    explicit worker_streams(worker&) noexcept {}

    // Streams that have bytes for the program; the one that was reported longest ago comes first.
    stream_list ready;
    // Limit on stored bytes of streams at endpoints that the program has not asked for, and so
    // cannot read. Each stream has a window, but a peer may make many endpoints.
    shared_limit unread{ucs::sys::peer_memory_limit()};
};

// Returns the endpoint's stream, and makes it at first use.
[[nodiscard]] stream_channel& stream_of(ep& endpoint);
// Returns the endpoint's stream, or nullptr if it was not used yet.
[[nodiscard]] inline stream_channel* opened_stream_of(const ep& endpoint) noexcept {
    return slot_of<ep_stream>(endpoint).channel.get();
}
// Returns true if the peer's program has closed its endpoint. The limit does not rise any more, and
// sends that wait for it fail.
[[nodiscard]] bool is_reader_gone(const ep& endpoint) noexcept;
// The peer's program reads the stream no more: sends that wait for its window fail.
void note_reader_gone(ep& endpoint);
// Tells the peer that this side reads no more. Before the closing flush has ended, only this
// program knows that, and the peer's sends may wait for its reading. Posted receives still get
// their bytes.
void stop_reading(ep& endpoint);
// No receive of the stream waits any more: when this side closes, the peer is notified.
void stream_receives_ended(ep& endpoint);

}  // namespace ucp
