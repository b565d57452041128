// The only way by which active messages reach the protocols.
#pragma once

#include <new>

#include "ucp/core/wire.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

class worker;

// Whose part a handler's argument is.
inline worker& worker_of(worker& self) noexcept {
    return self;
}
template<class Part>
worker& worker_of(Part& part) noexcept {
    return part.owner();
}

// Notes a message that there was no memory for. A peer can send as many as it likes meanwhile.
[[gnu::cold]] void message_lost(worker& owner, wire::id id, std::size_t length) noexcept;

// Makes handlers of message `Id` out of functions that may run out of memory. Protocols deal with
// that where they know whom it concerns; what they leave costs the message and is noted with the
// worker, never the transport its place in a ring or stream. Their argument is a worker or a part
// of one.
template<wire::id Id>
struct handler_of {
    template<class Part, void (*Deliver)(void* arg, void* data, std::size_t length)>
    static void deliver(void* arg, void* data, std::size_t length) noexcept {
        try {
            Deliver(arg, data, length);
        } catch (const std::bad_alloc&) {
            message_lost(worker_of(*static_cast<Part*>(arg)), Id, length);
        }
    }

    template<class Part, void (*Landed)(void* arg, const void* header, std::size_t payload_length)>
    static void landed(void* arg, const void* header, std::size_t payload_length) noexcept {
        try {
            Landed(arg, header, payload_length);
        } catch (const std::bad_alloc&) {
            message_lost(worker_of(*static_cast<Part*>(arg)), Id, payload_length);
        }
    }

    template<void (*Deliver)(void* arg, void* data, std::size_t length), class Part>
    static void install(uct::iface& on, Part* arg) {
        on.set_am_handler(Id, {.deliver = deliver<Part, Deliver>, .arg = arg});
    }

    // For data that is received in place, see uct::am_handler.
    template<void (*Deliver)(void* arg, void* data, std::size_t length),
             void* (*Locate)(void* arg, const void* header, std::size_t payload_length) noexcept,
             void (*Landed)(void* arg, const void* header, std::size_t payload_length), class Part>
    static void install(uct::iface& on, Part* arg, std::size_t header_length) {
        on.set_am_handler(Id, {.deliver = deliver<Part, Deliver>,
                               .landing_header = header_length,
                               .locate = Locate,
                               .landed = landed<Part, Landed>,
                               .arg = arg});
    }
};

}  // namespace ucp
