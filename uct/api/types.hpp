// Basic types of the transport layer.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/type/status.h"

namespace uct {

// Number of an active message handler, below am_id_count.
using am_id = std::uint8_t;
inline constexpr std::size_t am_id_count = 32;

// One piece of local memory.
struct iov {
    void* base;
    std::size_t length;
};

[[nodiscard]] inline std::size_t total_length(std::span<const iov> pieces) noexcept {
    std::size_t sum = 0;
    for (const iov& piece : pieces)
        sum += piece.length;
    return sum;
}

// Functions that a caller passes to a transport (handlers, completions, queued sends, packing
// functions) must not throw, because the transport is in the middle of its own work. In turn no
// operation of a transport throws; if memory is short, it returns UCS_ERR_NO_MEMORY.

// Writes at most `capacity` bytes of a message into `into`; returns their number. Must not throw.
using pack_function = std::size_t (*)(void* arg, void* into, std::size_t capacity);

// Notification of the end of an operation that returned UCS_INPROGRESS. May count several
// operations: `done` is called when the last of `count` ends, with the first error in `status`.
// Owned by the caller, must live until `done` is called, which must not throw. Owner context.
struct completion {
    void (*done)(completion& self);
    unsigned count = 1;
    ucs_status_t status = UCS_OK;

    void finish(ucs_status_t result) {
        if (result != UCS_OK && status == UCS_OK) status = result;
        if (--count == 0) done(*this);
    }
};

// A send that found no resource and waits in its endpoint's queue. When resources are available,
// the transport removes it from the queue and calls `progress`: UCS_ERR_NO_RESOURCE puts it back at
// the front, any other status means that the request is finished and must not be touched.
// `progress` may send on its endpoint past the queue, so it must not run code that sends something
// else there (a user's callback): that would overtake the requests behind it. It may not destroy
// the endpoint, and must not throw.
struct pending_request {
    ucs_status_t (*progress)(pending_request& self);
    ucs::datastruct::list_hook pending_hook;
};

// Operations that an endpoint may implement; also the capability flags of an interface, which
// are computed from the endpoint class (see base/implemented_ops.hpp), never written by hand.
enum class op : std::uint32_t {
    am_short = 1U << 0,
    am_bcopy = 1U << 1,
    am_zcopy = 1U << 2,
    get_zcopy = 1U << 3,
    put_zcopy = 1U << 4,
    atomic = 1U << 5,  // the kinds are in iface_attr::atomics
    put_short = 1U << 6,
    put_bcopy = 1U << 7,
    get_bcopy = 1U << 8,
};

struct op_name {
    op which;
    const char* name;
};
inline constexpr op_name op_names[] = {
    {op::am_short, "am_short"},   {op::am_bcopy, "am_bcopy"},   {op::am_zcopy, "am_zcopy"},
    {op::get_zcopy, "get_zcopy"}, {op::put_zcopy, "put_zcopy"}, {op::atomic, "atomic"},
    {op::put_short, "put_short"}, {op::put_bcopy, "put_bcopy"}, {op::get_bcopy, "get_bcopy"}};

struct op_mask {
    std::uint32_t bits = 0;
    [[nodiscard]] constexpr bool has(op operation) const noexcept {
        return (bits & static_cast<std::uint32_t>(operation)) != 0;
    }
    constexpr void add(op operation) noexcept { bits |= static_cast<std::uint32_t>(operation); }
    constexpr void remove(op operation) noexcept { bits &= ~static_cast<std::uint32_t>(operation); }
};

}  // namespace uct
