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
        case wire::rma_put:
        case wire::rma_get:
        case wire::rma_data:
        case wire::rma_result:
        case wire::rma_atomic:
        case wire::rma_confirm:
        case wire::rma_confirmed:
            return "remote memory";
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
