// Installs message handlers: every active message reaches the protocols through here.
#pragma once

#include <cstring>

#include "ucp/core/wire.hpp"
#include "ucs/log/boundary.hpp"
#include "uct/api/iface.hpp"
#include "uct/api/peer_bytes.hpp"

namespace ucp {

class worker;

// Returns the worker that a handler's argument belongs to.
inline worker& worker_of(worker& self) noexcept {
    return self;
}
template<class Part>
worker& worker_of(Part& part) noexcept {
    return part.owner();
}

// Name of a message id for log lines: "stream credit".
[[nodiscard]] const char* name_of(uct::am_id id) noexcept;

// Logs a message that was dropped, usually for lack of memory. A peer can send any number of such
// messages meanwhile.
[[gnu::cold]] void message_lost(worker& owner, wire::id id, std::size_t length,
                                const char* reason) noexcept;

// Logs a malformed message of a peer.
[[gnu::cold]] void message_malformed(worker& owner, wire::id id, std::size_t length) noexcept;

// Reads the header of a message. Logs and returns false if the message is shorter than its header.
template<class Header>
[[nodiscard]] bool read_header(worker& owner, wire::id id, uct::peer_bytes message,
                               Header& into) noexcept {
    if (message.size() < sizeof into) [[unlikely]] {
        message_malformed(owner, id, message.size());
        return false;
    }
    message.read(into);
    return true;
}

// Turns functions that may throw into handlers of message `Id`. A protocol handles a
// lack of memory itself where it knows which operation is affected. If it does not, the message is
// lost and the loss is logged for the worker; the transport's ring or stream stays intact. The
// handlers' argument is a worker or a part of one. Messages come as bytes that must be copied
// before they are examined, because their senders may still change them.
template<wire::id Id>
struct handler_of {
    template<class Part, void (*Deliver)(void* arg, uct::peer_bytes message)>
    static void deliver(void* arg, void* data, std::size_t length) noexcept {
        ucs::boundary(
            [&] {
                Deliver(arg, {data, length});
            },
            [&](const ucs::failure& caught) { lose<Part>(arg, length, caught); });
    }

    template<class Part, void (*Landed)(void* arg, const void* header, std::size_t payload_length)>
    static void landed(void* arg, const void* header, std::size_t payload_length) noexcept {
        ucs::boundary([&] { Landed(arg, header, payload_length); },
                      [&](const ucs::failure& caught) { lose<Part>(arg, payload_length, caught); });
    }

    template<void (*Deliver)(void* arg, uct::peer_bytes message), class Part>
    static void install(uct::iface& iface, Part* arg) {
        iface.set_am_handler(Id, {.deliver = deliver<Part, Deliver>, .arg = arg});
    }

    // For messages that consist of a header only.
    template<class Header, void (*Handler)(worker&, const Header&)>
    static void install_plain(uct::iface& iface, worker& owner) {
        install<deliver_plain<Header, Handler>>(iface, &owner);
    }

    // For data that is received in place, see uct::am_handler.
    template<void (*Deliver)(void* arg, uct::peer_bytes message),
             void* (*Locate)(void* arg, const void* header, std::size_t payload_length) noexcept,
             void (*Landed)(void* arg, const void* header, std::size_t payload_length), class Part>
    static void install(uct::iface& iface, Part* arg, std::size_t header_length) {
        iface.set_am_handler(Id, {.deliver = deliver<Part, Deliver>,
                                  .landing_header = header_length,
                                  .locate = Locate,
                                  .landed = landed<Part, Landed>,
                                  .arg = arg});
    }

private:
    template<class Part>
    static void lose(void* arg, std::size_t length, const ucs::failure& caught) noexcept {
        message_lost(worker_of(*static_cast<Part*>(arg)), Id, length, caught.text);
    }

    template<class Header, void (*Handler)(worker&, const Header&)>
    static void deliver_plain(void* arg, uct::peer_bytes message) {
        worker& owner = *static_cast<worker*>(arg);
        Header header;
        if (read_header(owner, Id, message, header)) Handler(owner, header);
    }
};

}  // namespace ucp
