#include "uct/cuda/ipc/ipc_ep.hpp"

#include "uct/base/log.hpp"

namespace uct::cuda {

ipc_ep::ipc_ep(cuda_iface& owner, const process_address& peer, ipc_domain& domain,
               unsigned max_streams)
    : cuda_ep(owner, peer), domain_(domain), max_streams_(max_streams) {
    domain_.add_peer(peer.number);
}

ipc_ep::~ipc_ep() {
    cancel();
    domain_.remove_peer(peer_.number);
}

ucs_status_t ipc_ep::get_zcopy(std::span<const iov> into, const remote_place& from,
                               completion* done) {
    return transfer(into, from, true, done);
}

ucs_status_t ipc_ep::put_zcopy(std::span<const iov> from, const remote_place& to,
                               completion* done) {
    return transfer(from, to, false, done);
}

ucs_status_t ipc_ep::transfer(std::span<const iov> pieces, const remote_place& place, bool is_get,
                              completion* done) noexcept {
    const auto* const region = static_cast<const ipc_region*>(place.in);
    if (region == nullptr) return UCS_ERR_INVALID_PARAM;
    const std::size_t length = total_length(pieces);
    if (!region->covers(place.address, length)) {
        ucs::log::error(cuda_log, "{}: {} bytes at {:#x} are not part of the memory of the key",
                        peer_name(), length, place.address);
        return UCS_ERR_INVALID_ADDR;
    }
    if (!is_get && region->allowed() != memory_access::change) {
        ucs::log::error(cuda_log, "{}: memory that is shared for reading cannot be written",
                        peer_name());
        return UCS_ERR_REJECTED;
    }
    const ucs::cuda::device_memory* const memory = region->memory();
    const auto device = memory == nullptr ? 0U : static_cast<unsigned>(memory->device);
    return start({.pieces = pieces,
                  .place = region->mapped(place.address),
                  .is_to_pieces = is_get,
                  .memory = memory,
                  .lane = peer_lane(device % max_streams_)},
                 done);
}

}  // namespace uct::cuda
