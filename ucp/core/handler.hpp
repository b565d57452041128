// The only way by which active messages reach the protocols.
#pragma once

#include <new>

#include "ucp/core/wire.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// One line about a message that there was no memory for.
[[gnu::cold]] void message_lost(wire::id id, std::size_t length) noexcept;

// Makes handlers of message `Id` out of functions that may run out of memory. Protocols deal with
// that where they know whom it concerns; what they leave costs the message and one line in the log,
// never the transport its place in a ring or stream.
template<wire::id Id>
struct handler_of {
    template<void (*Deliver)(void* arg, void* data, std::size_t length)>
    static void deliver(void* arg, void* data, std::size_t length) noexcept {
        try {
            Deliver(arg, data, length);
        } catch (const std::bad_alloc&) {
            message_lost(Id, length);
        }
    }

    template<void (*Landed)(void* arg, const void* header, std::size_t payload_length)>
    static void landed(void* arg, const void* header, std::size_t payload_length) noexcept {
        try {
            Landed(arg, header, payload_length);
        } catch (const std::bad_alloc&) {
            message_lost(Id, payload_length);
        }
    }

    template<void (*Deliver)(void* arg, void* data, std::size_t length)>
    static void install(uct::iface& on, void* arg) {
        on.set_am_handler(Id, {.deliver = deliver<Deliver>, .arg = arg});
    }

    // For data that is received in place, see uct::am_handler.
    template<void (*Deliver)(void* arg, void* data, std::size_t length),
             void* (*Locate)(void* arg, const void* header, std::size_t payload_length) noexcept,
             void (*Landed)(void* arg, const void* header, std::size_t payload_length)>
    static void install(uct::iface& on, void* arg, std::size_t header_length) {
        on.set_am_handler(Id, {.deliver = deliver<Deliver>,
                               .landing_header = header_length,
                               .locate = Locate,
                               .landed = landed<Landed>,
                               .arg = arg});
    }
};

}  // namespace ucp
