// Announce; the receiver reads the data out of the sender's memory and says when it has it.
#include "ucp/rndv/start.hpp"
#include "ucp/tag/protocols.hpp"

namespace ucp {

namespace {

estimate probe(const lane_set& lanes, const send_class& what, std::size_t length) {
    if (lanes.rma == nullptr) return estimate::refused("no lane reads the sender's memory");
    if (!what.contiguous) return estimate::refused("needs contiguous data");
    if (length == 0) return estimate::refused("an empty message has nothing to read");
    if (lanes.options->scheme == rndv_scheme::am) return estimate::refused("UCX_RNDV_SCHEME=am");
    const bool single_copy = lanes.rma->reach == uct::scope::host;
    const double rate = single_copy ? lanes.costs->single_copy : lanes.rma->bandwidth;
    const double start = single_copy ? lanes.costs->single_copy_overhead : lanes.rma->latency;
    // Announcement, read, acknowledgement.
    return {2 * (lanes.am->latency + lanes.am->overhead) + start +
            static_cast<double>(length) / rate};
}

ucs_status_t progress(request& send) {
    return send_rts(send, true);
}

void abort(request&) {}

}  // namespace

constinit const protocol rndv_get{
    "rndv/get", "announced, then read by the receiver straight from the sender's memory",
    probe,      progress,
    abort,      true};

}  // namespace ucp
