#include "ucp/stream/endpoint.hpp"

#include "ucp/core/worker.hpp"
#include "ucp/stream/arrivals.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

void stop_reading(ep& endpoint) {
    const stream_channel* const opened = opened_stream_of(endpoint);
    const bool reads = opened != nullptr && opened->awaits_bytes();
    if (!reads && !endpoint.operations().sends().empty()) stream_notify_no_reader(endpoint);
}

stream_channel& stream_of(ep& endpoint) {
    std::unique_ptr<stream_channel>& channel = slot_of<ep_stream>(endpoint).channel;
    if (channel == nullptr) {
        channel = std::make_unique<stream_channel>(
            endpoint, endpoint.owner().owner().options().stream_window.bytes);
        endpoint.operations().is_end_watched = true;
    }
    return *channel;
}

bool is_reader_gone(const ep& endpoint) noexcept {
    return slot_of<ep_stream>(endpoint).is_reader_gone ||
           wireup::state_of(endpoint) == wireup::state::peer_closed;
}

void note_reader_gone(ep& endpoint) {
    slot_of<ep_stream>(endpoint).is_reader_gone = true;
    if (stream_channel* const opened = opened_stream_of(endpoint)) opened->sends.resume();
}

void stream_receives_ended(ep& endpoint) {
    if (endpoint.operations().closes_after_flush() &&
        wireup::state_of(endpoint) == wireup::state::ready)
        stop_reading(endpoint);
}

}  // namespace ucp
