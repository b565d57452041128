// State of a receive whose message comes by rendezvous.
#pragma once

#include "ucp/core/request.hpp"
#include "ucp/rndv/exposed_buffer.hpp"
#include "ucp/rndv/rate_history.hpp"
#include "ucp/rndv/rts.hpp"

namespace ucp {

// The reply of the sender that a receive waits for.
enum class rndv_reply : std::uint8_t {
    none,
    written,    // the sender was asked to write a part
    confirmed,  // the sender was asked whether the send still ran when its memory had been read
};

// How this side reaches the memory of the sender.
enum class data_source : std::uint8_t {
    host,    // by its address, or not at all
    keyed,   // by keys: a device of ours moves the data
    device,  // it is memory of a device, which the lane to devices reaches
};

// Owner context.
struct rndv_recv : recv_state {
    // Sets all members, which are unset before.
    void begin(const rts_info& message) noexcept {
        by_rendezvous = true;
        remote_id = message.request;
        remote_address = message.address;
        confirm = message.confirm;
        started = 0;
        offset = end = 0;
        parts = {.done = nullptr, .count = 0};
        method = rndv_method::read;
        awaits = rndv_reply::none;
        has_exposed = unwritten = false;
        source = data_source::host;
    }
    void set_exposed(std::unique_ptr<exposed_buffer> given) noexcept {
        exposed = given.release();
        has_exposed = true;
    }

    // The short members fill the last word of recv_state.
    rndv_method method;
    rndv_reply awaits;
    bool confirm;             // the sender may take its memory back while we read
    bool has_exposed;         // `exposed`, an exposed buffer, is set
    bool unwritten;           // the sender could not write its part: we read it after our part
    data_source source;       // how the sender's memory is reached
    std::uint64_t remote_id;  // the sender's request
    union {
        std::uint64_t remote_address;  // address that we read from
        exposed_buffer*
            exposed;  // with keys: the memory that we read, or that the sender writes to
    };
    std::uint64_t started;  // when the transfer began, for rate_history
    std::size_t offset;     // bytes received or requested
    std::size_t end;        // end of the part that we read ourselves
    uct::completion parts;
};

}  // namespace ucp
