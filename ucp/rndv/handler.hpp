// Handlers of messages that are nothing but a header.
#pragma once

#include <cstring>

#include "ucp/core/handler.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Hands the header to Handler; a shorter message is dropped, with a line in the log.
template<class Header, void (*Handler)(worker&, const Header&)>
void deliver_header(void* arg, void* data, std::size_t length) {
    Header header;
    if (length < sizeof header) {
        static_cast<worker*>(arg)->rejected().warn(
            proto_log, "a malformed rendezvous answer of {} bytes was dropped", length);
        return;
    }
    std::memcpy(&header, data, sizeof header);
    Handler(*static_cast<worker*>(arg), header);
}

template<wire::id Id, class Header, void (*Handler)(worker&, const Header&)>
void install_plain(uct::iface& on, worker& owner) {
    handler_of<Id>::template install<deliver_header<Header, Handler>>(on, &owner);
}

}  // namespace ucp
