// Reading the headers of messages about remote memory.
#pragma once

#include <cstring>

#include "ucp/core/handler.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

// False, with a line in the log: the message is shorter than its header.
template<class Header>
[[nodiscard]] bool read_header(worker& owner, const void* data, std::size_t length,
                               const char* what, Header& header) {
    if (length < sizeof header) {
        owner.rejected().warn(proto_log, "a malformed {} of {} bytes was dropped", what, length);
        return false;
    }
    std::memcpy(&header, data, sizeof header);
    return true;
}

// For messages that are nothing but a header.
template<class Header, void (*Handler)(worker&, const Header&)>
void deliver_plain(void* arg, void* data, std::size_t length) {
    Header header;
    worker& owner = *static_cast<worker*>(arg);
    if (read_header(owner, data, length, "message about remote memory", header)) {
        Handler(owner, header);
    }
}

template<wire::id Id, class Header, void (*Handler)(worker&, const Header&)>
void install_header(uct::iface& on, worker& owner) {
    handler_of<Id>::template install<deliver_plain<Header, Handler>>(on, &owner);
}

}  // namespace ucp
