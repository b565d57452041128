// Part of a message between its first header and its data.
#pragma once

#include <cstring>

#include "ucp/core/ep.hpp"
#include "ucp/eager/wire.hpp"
#include "ucp/proto/am_fields.hpp"
#include "ucp/proto/message_state.hpp"

namespace ucp {

// Tagged messages have no such part. Active messages have the endpoint for replies (unless the
// message names it anyway) and the program's header.

[[nodiscard]] inline bool has_reply_ep(const message_state& state) noexcept {
    return traits(state.kind).only == wire::am_only &&
           (wire::to_am_fields(state.first_word).flags & wire::am_reply) != 0;
}

// Writes the program's header; returns the number of bytes up to the data.
inline std::size_t write_header(message_state& state, std::byte* into) noexcept {
    if (state.header_length == 0) [[likely]]
        return 0;
    std::memcpy(into, state.header, state.header_length);
    state.header_sent = true;
    if (state.buffer.length() == 0) return state.header_length;
    const std::size_t filled = wire::padded_length(state.header_length);
    std::memset(into + state.header_length, 0, filled - state.header_length);
    return filled;
}

// Writes this part of a message that is sent in one piece.
inline std::size_t write_front(request& send, std::byte* into) noexcept {
    message_state& state = send.as<message_state>();
    if (!has_reply_ep(state)) [[likely]]
        return write_header(state, into);
    const std::uint64_t reply_ep = send.via->remote_id();
    std::memcpy(into, &reply_ep, sizeof reply_ep);
    return sizeof reply_ep + write_header(state, into + sizeof reply_ep);
}

// The most that a message of one piece needs in addition to the program's header and data.
[[nodiscard]] constexpr std::size_t only_overhead(send_kind kind) noexcept {
    constexpr std::size_t reply_and_filling = 16;
    return sizeof(wire::eager_only_header) +
           (traits(kind).only == wire::am_only ? reply_and_filling : 0);
}

// The progress function of eager/bcopy; also used for messages whose front part eager/short cannot
// carry.
ucs_status_t send_one_buffer(request& send);

}  // namespace ucp
