// One connection between rank 0 and another rank.
#pragma once

#include <optional>
#include <string_view>

#include "ucg/oob/tcp/wire.hpp"
#include "ucs/net/record_stream.hpp"
#include "ucs/net/reply_state.hpp"
#include "ucs/security/key.hpp"

namespace ucg::oob {

// The job key as the connections of a store use it.
using job_key = std::optional<ucs::security::key>;

// The purpose of connections between rank 0 and the other ranks, which is part of their proofs.
inline constexpr std::string_view store_purpose = "ucg store";

// The frames of a connection. Owner context.
class tcp_link : public ucs::net::record_stream<wire::header::size, &wire::parse> {
public:
    explicit tcp_link(ucs::unique_fd socket) noexcept;

    // True if the peer's host has not acknowledged anything for half a minute of calls, although it
    // should. Keep-alive alone does not detect this while data is in flight.
    [[nodiscard]] bool is_silent() noexcept;

    // Begins to send a frame. The frame before must be sent. `body` stays valid until flush()
    // returns UCS_OK; the contents of a failure are copied.
    void put(wire::header head, std::span<const std::byte> body = {}) noexcept;
    void put(wire::header head, const wire::failure& failure) noexcept;
    // Sends `start`, of at most failure::max_bytes, before the body. `start` is copied.
    void put(wire::header head, std::span<const std::byte> start,
             std::span<const std::byte> body) noexcept;

    // Receives the content of a failure; ends the frame. UCS_ERR_INVALID_PARAM: malformed.
    [[nodiscard]] ucs_status_t read_failure(wire::failure& into, rank_t ranks);

private:
    ucs::net::silence_watch silence_;
    ucs::time::nanoseconds next_check_ = 0;
    std::array<std::byte, wire::failure::max_bytes> in_failure_;
};

}  // namespace ucg::oob
