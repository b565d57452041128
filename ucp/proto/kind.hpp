// What kinds of messages the protocols carry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucp/api/ucp.h"
#include "ucp/core/wire.hpp"

namespace ucp {

// Kinds differ in which protocols may serve them and in the message ids that begin them; behind the
// first word (`what` of the headers) the protocols treat them alike.
enum class send_kind : std::uint8_t {
    tag,       // what: the tag
    tag_sync,  // the same; completes when matched
    tag_rndv,  // the same two, where the receiver has no room for the data
    tag_sync_rndv,
    am,        // what: am_word, see ucp/am/wire.hpp
    am_eager,  // the same, where the program or the message wants one of the two ways
    am_rndv,
    stream,  // bytes without borders; has one protocol, chosen by nobody
    // Operations on a peer's memory (ucp/rma, ucp/amo). What: the address. They have protocols of
    // their own, which are not in the table.
    put,
    get,
    atomic,
    reply,  // data for a peer's get
};
inline constexpr std::size_t message_kind_count = 8;
inline constexpr std::size_t send_kind_count = 12;

[[nodiscard]] constexpr bool is_remote(send_kind kind) noexcept {
    return kind == send_kind::put || kind == send_kind::get || kind == send_kind::atomic;
}

// One kind, for the protocols.
struct kind_traits {
    const char* title;      // for people
    std::uint64_t feature;  // whose programs are shown its protocols
    wire::id only;          // ids of the messages that begin one
    wire::id first;
    wire::id announcement;
    bool sync;   // completes when matched
    bool eager;  // may take an eager protocol
    bool rendezvous;
};

inline constexpr std::array<kind_traits, send_kind_count> all_kinds{{
    {.title = "tag send",
     .feature = UCP_FEATURE_TAG,
     .only = wire::eager_only,
     .first = wire::eager_first,
     .announcement = wire::rndv_rts,
     .sync = false,
     .eager = true,
     .rendezvous = true},
    {.title = "synchronous tag send",
     .feature = UCP_FEATURE_TAG,
     .only = wire::eager_only,
     .first = wire::eager_first,
     .announcement = wire::rndv_rts,
     .sync = true,
     .eager = true,
     .rendezvous = true},
    {.title = "tag send, announced",
     .feature = 0,
     .only = wire::eager_only,
     .first = wire::eager_first,
     .announcement = wire::rndv_rts,
     .sync = false,
     .eager = false,
     .rendezvous = true},
    {.title = "synchronous tag send, announced",
     .feature = 0,
     .only = wire::eager_only,
     .first = wire::eager_first,
     .announcement = wire::rndv_rts,
     .sync = true,
     .eager = false,
     .rendezvous = true},
    {.title = "active message",
     .feature = UCP_FEATURE_AM,
     .only = wire::am_only,
     .first = wire::am_first,
     .announcement = wire::am_rts,
     .sync = false,
     .eager = true,
     .rendezvous = true},
    {.title = "active message, eager wanted",
     .feature = UCP_FEATURE_AM,
     .only = wire::am_only,
     .first = wire::am_first,
     .announcement = wire::am_rts,
     .sync = false,
     .eager = true,
     .rendezvous = false},
    {.title = "active message, rendezvous wanted",
     .feature = UCP_FEATURE_AM,
     .only = wire::am_only,
     .first = wire::am_first,
     .announcement = wire::am_rts,
     .sync = false,
     .eager = false,
     .rendezvous = true},
    {.title = "stream send",
     .feature = 0,
     .only = wire::stream_data,
     .first = wire::stream_data,
     .announcement = wire::stream_data,
     .sync = false,
     .eager = false,
     .rendezvous = false},
    {.title = "put",
     .feature = UCP_FEATURE_RMA,
     .only = {},
     .first = {},
     .announcement = {},
     .sync = false,
     .eager = false,
     .rendezvous = false},
    {.title = "get",
     .feature = UCP_FEATURE_RMA,
     .only = {},
     .first = {},
     .announcement = {},
     .sync = false,
     .eager = false,
     .rendezvous = false},
    {.title = "atomic operation",
     .feature = UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
     .only = {},
     .first = {},
     .announcement = {},
     .sync = false,
     .eager = false,
     .rendezvous = false},
    {.title = "reply to a get",
     .feature = UCP_FEATURE_RMA,
     .only = {},
     .first = {},
     .announcement = {},
     .sync = false,
     .eager = false,
     .rendezvous = false},
}};

[[nodiscard]] constexpr const kind_traits& traits(send_kind kind) noexcept {
    return all_kinds[static_cast<std::size_t>(kind)];
}

}  // namespace ucp
