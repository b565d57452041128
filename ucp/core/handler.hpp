// The only way by which active messages reach the protocols.
#pragma once

#include <cstring>
#include <new>

#include "ucp/core/wire.hpp"
#include "uct/api/iface.hpp"
#include "uct/api/peer_bytes.hpp"

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

// What a message is, for people: "stream credit".
[[nodiscard]] const char* name_of(uct::am_id id) noexcept;

// Notes a message that there was no memory for. A peer can send as many as it likes meanwhile.
[[gnu::cold]] void message_lost(worker& at, wire::id id, std::size_t length) noexcept;

// One line about a peer's message that is not what it should be.
[[gnu::cold]] void message_malformed(worker& at, wire::id id, std::size_t length) noexcept;

// False, with a line in the log: the message is shorter than its header.
template<class Header>
[[nodiscard]] bool read_header(worker& at, wire::id id, uct::peer_bytes message,
                               Header& into) noexcept {
    if (message.size() < sizeof into) [[unlikely]] {
        message_malformed(at, id, message.size());
        return false;
    }
    message.read(into);
    return true;
}

// Makes handlers of message `Id` out of functions that may run out of memory. Protocols deal with
// that where they know whom it concerns; what they leave costs the message and is noted with the
// worker, never the transport its place in a ring or stream. Their argument is a worker or a part
// of one. Messages come as bytes that cannot be looked at in place: their senders may still change
// them.
template<wire::id Id>
struct handler_of {
    template<class Part, void (*Deliver)(void* arg, uct::peer_bytes message)>
    static void deliver(void* arg, void* data, std::size_t length) noexcept {
        try {
            Deliver(arg, {data, length});
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

    template<void (*Deliver)(void* arg, uct::peer_bytes message), class Part>
    static void install(uct::iface& on, Part* arg) {
        on.set_am_handler(Id, {.deliver = deliver<Part, Deliver>, .arg = arg});
    }

    // For messages that are nothing but a header.
    template<class Header, void (*Handler)(worker&, const Header&)>
    static void install_plain(uct::iface& on, worker& owner) {
        install<deliver_plain<Header, Handler>>(on, &owner);
    }

    // For data that is received in place, see uct::am_handler.
    template<void (*Deliver)(void* arg, uct::peer_bytes message),
             void* (*Locate)(void* arg, const void* header, std::size_t payload_length) noexcept,
             void (*Landed)(void* arg, const void* header, std::size_t payload_length), class Part>
    static void install(uct::iface& on, Part* arg, std::size_t header_length) {
        on.set_am_handler(Id, {.deliver = deliver<Part, Deliver>,
                               .landing_header = header_length,
                               .locate = Locate,
                               .landed = landed<Part, Landed>,
                               .arg = arg});
    }

private:
    template<class Header, void (*Handler)(worker&, const Header&)>
    static void deliver_plain(void* arg, uct::peer_bytes message) {
        worker& owner = *static_cast<worker*>(arg);
        Header header;
        if (read_header(owner, Id, message, header)) Handler(owner, header);
    }
};

}  // namespace ucp
