// Kinds of sends that the protocols carry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucp/api/ucp.h"
#include "ucp/core/wire.hpp"

namespace ucp {

// Kinds differ in the protocols that may serve them and in the message ids that begin them. Behind
// the first word of the header (field `tag_or_id`) the protocols treat all kinds alike.
enum class send_kind : std::uint8_t {
    tag,       // tag_or_id: the tag
    tag_sync,  // like tag; completes when the receiver has matched it
    tag_rndv,  // like tag and tag_sync, if the sender has no credits for eager data
    tag_sync_rndv,
    am,        // tag_or_id: am_fields, see ucp/proto/am_fields.hpp
    am_eager,  // like am, if the program or the message requires eager or rendezvous
    am_rndv,
    stream,  // bytes without message boundaries; always uses the same protocol
    // Operations on a peer's memory (ucp/rma, ucp/amo), which have no such word. Their protocols
    // are not in the protocol table.
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

// Returns true for messages that tag matching keeps in order.
[[nodiscard]] constexpr bool is_tagged(send_kind kind) noexcept {
    return kind <= send_kind::tag_sync_rndv;
}

// Properties of one kind.
struct kind_traits {
    const char* title;      // for display
    std::uint64_t feature;  // programs with this feature get the kind's protocols listed
    wire::id only;          // ids of the messages that begin such a send
    wire::id first;
    wire::id rts;
    bool sync;   // completes when the receiver has matched it
    bool eager;  // may use an eager protocol
    bool rendezvous;
};

namespace kinds {

struct methods {
    bool sync = false;
    bool eager = true;
    bool rendezvous = true;
};

constexpr kind_traits tagged(const char* title, std::uint64_t feature, methods allowed) noexcept {
    return {title,          feature,      wire::eager_only, wire::eager_first,
            wire::rndv_rts, allowed.sync, allowed.eager,    allowed.rendezvous};
}
constexpr kind_traits active(const char* title, methods allowed) noexcept {
    return {title,        UCP_FEATURE_AM, wire::am_only, wire::am_first,
            wire::am_rts, allowed.sync,   allowed.eager, allowed.rendezvous};
}
// Traits of a kind with a protocol of its own, which is not chosen from the table.
constexpr kind_traits own_protocol(const char* title, std::uint64_t feature,
                                   wire::id id = {}) noexcept {
    return {title, feature, id, id, id, false, false, false};
}

}  // namespace kinds

inline constexpr std::array<kind_traits, send_kind_count> all_kinds{{
    kinds::tagged("tag send", UCP_FEATURE_TAG, {}),
    kinds::tagged("synchronous tag send", UCP_FEATURE_TAG, {.sync = true}),
    kinds::tagged("tag send, announced", 0, {.eager = false}),
    kinds::tagged("synchronous tag send, announced", 0, {.sync = true, .eager = false}),
    kinds::active("active message", {}),
    kinds::active("active message, eager wanted", {.rendezvous = false}),
    kinds::active("active message, rendezvous wanted", {.eager = false}),
    kinds::own_protocol("stream send", 0, wire::stream_data),
    kinds::own_protocol("put", UCP_FEATURE_RMA),
    kinds::own_protocol("get", UCP_FEATURE_RMA),
    kinds::own_protocol("atomic operation", UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64),
    kinds::own_protocol("reply to a get", UCP_FEATURE_RMA),
}};

[[nodiscard]] constexpr const kind_traits& traits(send_kind kind) noexcept {
    return all_kinds[static_cast<std::size_t>(kind)];
}

}  // namespace ucp
