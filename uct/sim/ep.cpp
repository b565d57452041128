#include "uct/sim/ep.hpp"

#include <cstring>

namespace uct::sim {

namespace {

operation_ptr make_message(am_id id, std::size_t length, completion* done = nullptr) {
    auto message = std::make_shared<operation>();
    message->id = id;
    message->done = done;
    message->length = length;
    message->data.reset(new std::byte[length]);
    return message;
}

void append(operation& message, const void* from, std::size_t length) noexcept {
    if (length > 0) std::memcpy(message.data.get() + message.copied, from, length);
    message.copied += length;
}

}  // namespace

sim_ep::sim_ep(sim_iface& owner, fabric& network, node_id target)
    : base_ep(owner), fabric_(network), link_(network.connect(owner.own_node(), target, *this)) {}

sim_ep::~sim_ep() {
    fabric_.disconnect(*link_);
    std::vector<operation_ptr> all;
    all.swap(link_->outstanding);
    for (const operation_ptr& op : all) {
        if (op->done != nullptr) op->done->finish(UCS_ERR_CANCELED);
    }
}

ucs_status_t sim_ep::refuse(const char* call, const char* why) const {
    ucs::log::error(uct_log, "{}: node {}: {} to node {}: {}", iface_.where().transport,
                    link_->from, call, link_->to, why);
    return UCS_ERR_INVALID_PARAM;
}

ucs_status_t sim_ep::admit_message(op kind, am_id id, const char* call) {
    if (!iface_.attr().ops.has(kind)) return UCS_ERR_UNSUPPORTED;
    if (id >= am_id_count) return refuse(call, "the active message id is out of range");
    if (link_->failure != UCS_OK) return link_->failure;
    if (must_queue()) return UCS_ERR_NO_RESOURCE;
    return fabric_.admit(link_);
}

ucs_status_t sim_ep::am_short(am_id id, std::uint64_t header, const void* payload,
                              std::size_t length) {
    if (length > iface_.attr().max_short) return refuse("am_short", "payload above max_short");
    if (auto status = admit_message(op::am_short, id, "am_short"); status != UCS_OK) return status;
    auto message = make_message(id, sizeof header + length);
    append(*message, &header, sizeof header);
    append(*message, payload, length);
    fabric_.post(link_, std::move(message));
    count(sizeof header + length);
    return UCS_OK;
}

ssize_t sim_ep::am_bcopy(am_id id, pack_function pack, void* arg) {
    if (auto status = admit_message(op::am_bcopy, id, "am_bcopy"); status != UCS_OK) return status;
    const std::size_t capacity = iface_.attr().max_bcopy;
    const auto room = make_message(id, capacity);
    const std::size_t length = pack(arg, room->data.get(), capacity);
    if (length > capacity) return refuse("am_bcopy", "pack wrote more than it was given");
    auto message = make_message(id, length);
    append(*message, room->data.get(), length);
    fabric_.post(link_, std::move(message));
    count(length);
    return static_cast<ssize_t>(length);
}

ucs_status_t sim_ep::am_zcopy(am_id id, std::span<const std::byte> header,
                              std::span<const iov> payload, completion* done) {
    const iface_attr& limits = iface_.attr();
    const std::size_t length = header.size() + total_length(payload);
    if (header.size() > limits.max_zcopy_header || payload.size() > limits.max_iov ||
        length > limits.max_zcopy) {
        return refuse("am_zcopy", "header, pieces or length above the limits");
    }
    if (auto status = admit_message(op::am_zcopy, id, "am_zcopy"); status != UCS_OK) return status;
    const bool at_once = ends_at_once(done);
    auto message = make_message(id, length, at_once ? nullptr : done);
    append(*message, header.data(), header.size());
    message->pieces.assign(payload.begin(), payload.end());
    if (at_once) message->gather();
    fabric_.post(link_, std::move(message));
    count(length);
    return at_once ? UCS_OK : UCS_INPROGRESS;
}

bool sim_ep::ends_at_once(const completion* done) {
    return done == nullptr || fabric_.dice().chance(fabric_.network().immediate_completion);
}

ucs_status_t sim_ep::get_zcopy(std::span<const iov> into, const remote_place& from,
                               completion* done) {
    if (!iface_.attr().ops.has(op::get_zcopy)) return UCS_ERR_UNSUPPORTED;
    return access(op_kind::get, into, from.address, done);
}

ucs_status_t sim_ep::put_zcopy(std::span<const iov> from, const remote_place& to,
                               completion* done) {
    if (!iface_.attr().ops.has(op::put_zcopy)) return UCS_ERR_UNSUPPORTED;
    return access(op_kind::put, from, to.address, done);
}

ucs_status_t sim_ep::access(op_kind kind, std::span<const iov> pieces, std::uint64_t remote_address,
                            completion* done) {
    const iface_attr& limits = iface_.attr();
    if (pieces.size() > limits.max_iov || total_length(pieces) > limits.max_rma) {
        return refuse("get_zcopy or put_zcopy", "pieces or length above the limits");
    }
    if (fabric_.rma_refused(link_->from, link_->to)) return UCS_ERR_UNSUPPORTED;
    if (auto status = fabric_.admit(link_); status != UCS_OK) return status;
    count(total_length(pieces));
    auto op = std::make_shared<operation>();
    op->kind = kind;
    op->pieces.assign(pieces.begin(), pieces.end());
    op->remote_address = remote_address;
    op->done = done;
    if (ends_at_once(done)) {
        op->access_remote();
        return UCS_OK;
    }
    fabric_.post(link_, std::move(op));
    return UCS_INPROGRESS;
}

ucs_status_t sim_ep::flush(completion* done) {
    if (link_->failure != UCS_OK) return link_->failure;
    if (link_->window_use() == 0) return UCS_OK;
    if (done == nullptr) return UCS_INPROGRESS;
    auto op = std::make_shared<operation>();
    op->kind = op_kind::flush;
    op->done = done;
    fabric_.post(link_, std::move(op));
    return UCS_INPROGRESS;
}

}  // namespace uct::sim
