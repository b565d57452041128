#include "ucp/core/handler.hpp"

#include "ucp/core/log.hpp"

namespace ucp {

namespace {

const char* what_is(wire::id id) noexcept {
    switch (id) {
        case wire::wireup:
            return "connection";
        case wire::eager_only:
        case wire::eager_first:
        case wire::eager_data:
        case wire::eager_ack:
            return "eager";
        default:
            return "rendezvous";
    }
}

}  // namespace

void message_lost(wire::id id, std::size_t length) noexcept {
    ucs::log::error(proto_log, "out of memory: a {} message of {} bytes was dropped", what_is(id),
                    length);
}

}  // namespace ucp
