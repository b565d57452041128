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

// Messages that tag matching keeps in order.
[[nodiscard]] constexpr bool is_tagged(send_kind kind) noexcept {
    return kind <= send_kind::tag_sync_rndv;
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

namespace kinds {

struct ways {
    bool sync = false;
    bool eager = true;
    bool rendezvous = true;
};

constexpr kind_traits tagged(const char* title, std::uint64_t feature, ways allowed) noexcept {
    return {title,          feature,      wire::eager_only, wire::eager_first,
            wire::rndv_rts, allowed.sync, allowed.eager,    allowed.rendezvous};
}
constexpr kind_traits active(const char* title, ways allowed) noexcept {
    return {title,        UCP_FEATURE_AM, wire::am_only, wire::am_first,
            wire::am_rts, allowed.sync,   allowed.eager, allowed.rendezvous};
}
// Has a protocol of its own, which is not chosen from the table.
constexpr kind_traits apart(const char* title, std::uint64_t feature, wire::id id = {}) noexcept {
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
    kinds::apart("stream send", 0, wire::stream_data),
    kinds::apart("put", UCP_FEATURE_RMA),
    kinds::apart("get", UCP_FEATURE_RMA),
    kinds::apart("atomic operation", UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64),
    kinds::apart("reply to a get", UCP_FEATURE_RMA),
}};

[[nodiscard]] constexpr const kind_traits& traits(send_kind kind) noexcept {
    return all_kinds[static_cast<std::size_t>(kind)];
}

}  // namespace ucp
