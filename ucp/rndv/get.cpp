// Rendezvous protocol rndv/get: the sender sends an RTS; the receiver reads the data out of the
// sender's memory and acknowledges that.
#include "ucp/proto/pipeline.hpp"
#include "ucp/proto/rows.hpp"
#include "ucp/rndv/start.hpp"

namespace ucp {

namespace {

estimate probe(const lane_set& lanes, const send_class& sends, std::size_t length) {
    if (lanes.rma == nullptr) return estimate::refused("no lane reads the sender's memory");
    if (!sends.contiguous) return estimate::refused("needs contiguous data");
    if (length == 0) return estimate::refused("an empty message has nothing to read");
    if (lanes.options->scheme == rndv_scheme::am) return estimate::refused("UCX_RNDV_SCHEME=am");
    if (wants_writing(lanes.options->scheme)) {
        return estimate::refused("UCX_RNDV_SCHEME=put_zcopy or put_ppln");
    }
    // RTS, read, acknowledgement.
    return {2 * control_seconds(lanes) + read_seconds(lanes, length)};
}

ucs_status_t progress(request& send) {
    return send_rts(send, true);
}

}  // namespace

constinit const protocol rndv_get{
    "rndv/get", "announced; the receiver reads the sender's memory, alone or one half each", probe,
    progress, true};

}  // namespace ucp
