#include "ucp/core/handler.hpp"

#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"

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
        case wire::room_question:
        case wire::room_answer:
            return "eager";
        case wire::am_only:
        case wire::am_first:
        case wire::am_rts:
            return "active";
        case wire::stream_data:
        case wire::stream_credit:
            return "stream";
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

void message_lost(worker& owner, wire::id id, std::size_t length) noexcept {
    owner.rejected().error(proto_log, "out of memory: a {} message of {} bytes was dropped",
                           what_is(id), length);
}

}  // namespace ucp
