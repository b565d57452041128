#include "uct/sim/paired_ep.hpp"

#include <algorithm>
#include <cstring>

#include "uct/sim/paired_domain.hpp"

namespace uct::sim {

namespace {

operation_ptr make_access(op_kind kind, std::size_t length, const remote_place& where,
                          completion* done = nullptr) {
    auto made = std::make_shared<operation>();
    made->kind = kind;
    made->length = length;
    made->data.reset(new std::byte[length]);
    made->remote_address = where.address;
    made->key = static_cast<const remote_region&>(*where.in).key();
    made->done = done;
    return made;
}

const char* why_not(const atomic_op& change, const remote_place& place, const void* before) {
    if (!change.possible()) return "there is no such operation, or words of that size have none";
    if (change.must_fetch() && before == nullptr)
        return "a swap needs to know where its answer goes";
    if (place.address % change.size != 0) return "the address is no multiple of the size";
    return nullptr;
}

}  // namespace

ucs_status_t paired_ep::connect_to(std::span<const std::byte> data) {
    const ucs_status_t status = fabric_.bind(link_, data);
    if (status == UCS_ERR_INVALID_ADDR) {
        ucs::log::error(uct_log, "{}/{}: the connection data of {} is malformed",
                        iface_.where().transport, iface_.where().device, peer_name());
    }
    return status;
}

ucs_status_t paired_ep::admit_access(op operation, std::size_t length, std::size_t limit,
                                     const char* call) {
    if (!iface_.attr().ops.has(operation)) return UCS_ERR_UNSUPPORTED;
    if (length > limit) return refuse(call, "length above the limit");
    return fabric_.admit(link_);
}

ucs_status_t paired_ep::put_short(const void* from, std::size_t length, const remote_place& to) {
    const std::size_t limit = iface_.attr().max_put_short;
    if (auto status = admit_access(op::put_short, length, limit, "put_short"); status != UCS_OK)
        return status;
    auto made = make_access(op_kind::put, length, to);
    if (length > 0) std::memcpy(made->data.get(), from, length);
    fabric_.post(link_, std::move(made));
    count(length);
    return UCS_OK;
}

ssize_t paired_ep::put_bcopy(pack_function pack, void* arg, const remote_place& to) {
    if (auto status = admit_access(op::put_bcopy, 0, 0, "put_bcopy"); status != UCS_OK)
        return status;
    const std::size_t limit = iface_.attr().max_put_bcopy;
    auto made = make_access(op_kind::put, limit, to);
    const std::size_t length = pack(arg, made->data.get(), limit);
    if (length > limit) return refuse("put_bcopy", "pack wrote more than it was given");
    made->length = length;
    fabric_.post(link_, std::move(made));
    count(length);
    return static_cast<ssize_t>(length);
}

ucs_status_t paired_ep::get_bcopy(void* into, std::size_t length, const remote_place& from,
                                  completion* done) {
    const std::size_t limit = iface_.attr().max_get_bcopy;
    if (auto status = admit_access(op::get_bcopy, length, limit, "get_bcopy"); status != UCS_OK)
        return status;
    auto made = make_access(op_kind::get, length, from, done);
    made->pieces.push_back({into, length});
    fabric_.post(link_, std::move(made));
    count(length);
    return UCS_INPROGRESS;
}

ucs_status_t paired_ep::get_zcopy(std::span<const iov> into, const remote_place& from,
                                  completion* done) {
    return move_pieces(op_kind::get, into, from, done);
}

ucs_status_t paired_ep::put_zcopy(std::span<const iov> from, const remote_place& to,
                                  completion* done) {
    return move_pieces(op_kind::put, from, to, done);
}

ucs_status_t paired_ep::put_zcopy_and_notify(std::span<const iov> from, const remote_place& to,
                                             am_id id, std::span<const std::byte> message,
                                             completion* done) {
    const std::size_t length = total_length(from);
    if (message.size() > max_notification)
        return refuse("put_zcopy_and_notify", "a longer message");
    if (!iface_.attr().ops.has(op::put_zcopy) || from.size() > iface_.attr().max_iov ||
        length > iface_.attr().max_rma) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (auto status = admit_message(op::am_bcopy, id, "put_zcopy_and_notify"); status != UCS_OK)
        return status;
    if (fabric_.refuses_memory()) return UCS_ERR_NO_MEMORY;
    auto write = make_access(op_kind::put, length, to, done);
    write->pieces.assign(from.begin(), from.end());
    auto notification = std::make_shared<operation>();
    notification->id = id;
    notification->length = notification->copied = message.size();
    notification->data.reset(new std::byte[message.size()]);
    std::ranges::copy(message, notification->data.get());
    fabric_.post_both(link_, std::move(write), std::move(notification));
    count(length);
    return UCS_INPROGRESS;
}

ucs_status_t paired_ep::move_pieces(op_kind kind, std::span<const iov> pieces,
                                    const remote_place& where, completion* done) {
    const bool is_get = kind == op_kind::get;
    const char* const call = is_get ? "get_zcopy" : "put_zcopy";
    const std::size_t length = total_length(pieces);
    if (pieces.size() > iface_.attr().max_iov) return refuse(call, "too many pieces");
    const ucs_status_t status =
        admit_access(is_get ? op::get_zcopy : op::put_zcopy, length, iface_.attr().max_rma, call);
    if (status != UCS_OK) return status;
    if (fabric_.refuses_memory()) return UCS_ERR_NO_MEMORY;
    auto made = make_access(kind, length, where, done);
    made->pieces.assign(pieces.begin(), pieces.end());
    fabric_.post(link_, std::move(made));
    count(length);
    return UCS_INPROGRESS;
}

ucs_status_t paired_ep::atomic(const atomic_op& change, const remote_place& place, void* before,
                               completion* done) {
    if (!iface_.attr().ops.has(op::atomic)) return UCS_ERR_UNSUPPORTED;
    const auto log = [&](const char* why) {
        ucs::log::error(uct_log, "simrc: an atomic operation on {} bytes at {:#x} is refused: {}",
                        change.size, place.address, why);
    };
    if (const char* const why = why_not(change, place, before); why != nullptr) {
        log(why);
        return UCS_ERR_INVALID_PARAM;
    }
    const auto& memory = static_cast<const remote_region&>(*place.in);
    if (!memory.covers(place.address, change.size)) {
        log("outside of the memory");
        return UCS_ERR_INVALID_ADDR;
    }
    if (memory.allowed() == memory_access::read) {
        log("the memory is reached to be read only");
        return UCS_ERR_REJECTED;
    }
    // Devices access whole words of 64 bits.
    if (!memory.covers(place.address & ~std::uint64_t{7}, 8)) return UCS_ERR_UNSUPPORTED;
    if (auto status = fabric_.admit(link_); status != UCS_OK) return status;
    auto made = make_access(op_kind::atomic, change.size, place, done);
    made->change = change;
    if (before != nullptr) made->pieces.push_back({before, change.size});
    fabric_.post(link_, std::move(made));
    count(change.size);
    return UCS_INPROGRESS;
}

}  // namespace uct::sim
