#include "uct/base/log.hpp"
#include "uct/sm/memory/mapped_memory.hpp"
#include "uct/sm/posix/posix_ep.hpp"
#include "uct/sm/posix/posix_iface.hpp"

namespace uct::posix {

namespace {
constexpr std::size_t inline_payload = inline_message - sizeof(std::uint64_t);
}

ucs_status_t posix_ep::am_short(am_id id, std::uint64_t header, const void* payload,
                                std::size_t length) {
    // The writer of an unconnected, closed or failed endpoint has no slots.
    if (length <= inline_payload && writer_.has_slot() && !must_queue()) [[likely]] {
        if (writer_.put_inline(id, header, payload, length)) [[unlikely]]
            wake_reader();
        count(sizeof header + length);
        return UCS_OK;
    }
    return send_slow(id, header, payload, length);
}

ucs_status_t posix_ep::send_slow(am_id id, std::uint64_t header, const void* payload,
                                 std::size_t length) {
    const ucs_status_t status = need_slot();
    if (status != UCS_OK) return status;
    if (length <= inline_payload) {
        if (writer_.put_inline(id, header, payload, length)) wake_reader();
        count(sizeof header + length);
        return UCS_OK;
    }
    if (length > owner().attr().max_short) return UCS_ERR_INVALID_PARAM;
    std::byte* into = need_bulk(sizeof header + length);
    if (into == nullptr) return error_ == UCS_OK ? UCS_ERR_NO_RESOURCE : error_;
    std::memcpy(into, &header, sizeof header);
    std::memcpy(into + sizeof header, payload, length);
    if (writer_.commit(id, sizeof header + length)) wake_reader();
    count(sizeof header + length);
    return UCS_OK;
}

ssize_t posix_ep::am_bcopy(am_id id, pack_function pack, void* arg) {
    const ucs_status_t status = need_slot();
    if (status != UCS_OK) return status;
    const std::size_t capacity = owner().attr().max_bcopy;
    std::byte* into = need_bulk(capacity);
    if (into == nullptr) return error_ == UCS_OK ? UCS_ERR_NO_RESOURCE : error_;
    const std::size_t length = pack(arg, into, capacity);
    if (writer_.commit(id, length)) wake_reader();
    count(length);
    return static_cast<ssize_t>(length);
}

ucs_status_t posix_ep::atomic(const atomic_op& change, const remote_place& place, void* before,
                              completion*) {
    if (error_ != UCS_OK) return error_;
    const auto& memory = static_cast<const sm::mapped_memory&>(*place.in);
    const ucs_status_t status = memory.atomic(change, place.address, before);
    if (status == UCS_OK) count(change.size);
    return status;
}

ucs_status_t posix_ep::need_slot() {
    if (writer_.has_slot() && !must_queue()) [[likely]]
        return UCS_OK;
    if (error_ != UCS_OK) return error_;
    if (must_queue()) return UCS_ERR_NO_RESOURCE;
    if (connection_ == nullptr) return connect();
    if (!writer_.refresh()) {
        ucs::log::error(posix_log,
                        "{}: its ring counters are impossible, the connection is dropped",
                        peer_name());
        fail(UCS_ERR_IO_ERROR);
        return error_;
    }
    return writer_.has_slot() ? UCS_OK : UCS_ERR_NO_RESOURCE;
}

std::byte* posix_ep::need_bulk(std::size_t capacity) {
    std::byte* into = writer_.reserve(capacity);
    if (into != nullptr) [[likely]]
        return into;
    if (!writer_.refresh()) {
        ucs::log::error(posix_log,
                        "{}: its ring counters are impossible, the connection is dropped",
                        peer_name());
        fail(UCS_ERR_IO_ERROR);
        return nullptr;
    }
    return writer_.reserve(capacity);
}

}  // namespace uct::posix
