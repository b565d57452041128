#include <algorithm>
#include <array>
#include <cstring>

#include "uct/ib/ud/verbs/iface.hpp"

namespace uct::ud {
namespace {

// Parts of the longest message over the path with the smallest MTU.
constexpr std::size_t most_parts = 32;

}  // namespace

ucs_status_t verbs_ep::am_short(am_id id, std::uint64_t header, const void* payload,
                                std::size_t length) {
    if (!may_send(1)) [[unlikely]]
        return reason_not_to_send();
    if (length > own().attr().max_short) return UCS_ERR_INVALID_PARAM;
    bounce* const made = own().sends().get_bounce();
    if (made == nullptr) return UCS_ERR_NO_MEMORY;
    std::memcpy(made->body(), &header, sizeof header);
    if (length > 0) std::memcpy(made->body() + sizeof header, payload, length);
    made->length = static_cast<std::uint32_t>(wire::header_size + sizeof header + length);
    count(sizeof header + length);
    own().submit(*connection_, *made, id, wire::whole);
    return UCS_OK;
}

ssize_t verbs_ep::am_bcopy(am_id id, pack_function pack, void* arg) {
    if (iface::packets_of(*connection_, own().longest_message()) > 1) {
        return in_parts(id, pack, arg);
    }
    if (!may_send(1)) [[unlikely]]
        return reason_not_to_send();
    bounce* const made = own().sends().get_bounce();
    if (made == nullptr) return UCS_ERR_NO_MEMORY;
    const std::size_t length = pack(arg, made->body(), own().longest_message());
    made->length = static_cast<std::uint32_t>(wire::header_size + length);
    count(length);
    own().submit(*connection_, *made, id, wire::whole);
    return static_cast<ssize_t>(length);
}

ssize_t verbs_ep::in_parts(am_id id, pack_function pack, void* arg) {
    const std::size_t each = connection_->to().payload;
    const std::uint32_t most = iface::packets_of(*connection_, own().longest_message());
    if (!may_send(most)) [[unlikely]]
        return reason_not_to_send();
    // Allocates the packets before packing, because a packed message must be sent.
    std::array<bounce*, most_parts> made;
    for (std::uint32_t i = 0; i < most; ++i) {
        made[i] = own().sends().get_bounce();
        if (made[i] != nullptr) continue;
        while (i-- > 0)
            transmitter::put_back(*made[i]);
        return UCS_ERR_NO_MEMORY;
    }
    const std::span<std::byte> message = own().scratch();
    const std::size_t length = pack(arg, message.data(), message.size());
    const std::uint32_t parts = iface::packets_of(*connection_, length);
    count(length);
    for (std::uint32_t i = 0; i < most; ++i) {
        if (i >= parts) {
            transmitter::put_back(*made[i]);
            continue;
        }
        const std::size_t part = std::min(each, length - i * each);
        std::memcpy(made[i]->body(), message.data() + i * each, part);
        made[i]->length = static_cast<std::uint32_t>(wire::header_size + part);
        const unsigned flags = (i == 0 ? wire::first : wire::no_flags) |
                               (i + 1 == parts ? wire::last : wire::no_flags);
        own().submit(*connection_, *made[i], id, static_cast<std::uint8_t>(flags));
    }
    return static_cast<ssize_t>(length);
}

ucs_status_t verbs_ep::am_zcopy(am_id id, std::span<const std::byte> header,
                                std::span<const iov> payload, completion* done) {
    const iface_attr& limits = own().attr();
    const std::size_t length = header.size() + total_length(payload);
    if (header.size() > limits.max_zcopy_header || payload.size() > limits.max_iov ||
        length > limits.max_zcopy) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (length > connection_->to().payload) {  // does not fit into one packet of this path
        struct pieces {
            std::span<const std::byte> header;
            std::span<const iov> payload;
        } all{header, payload};
        const ssize_t sent = in_parts(
            id,
            [](void* arg, void* into, std::size_t) {
                const auto& from = *static_cast<const pieces*>(arg);
                auto* it = static_cast<std::byte*>(into);
                it = std::copy(from.header.begin(), from.header.end(), it);
                for (const iov& each : from.payload)
                    it = std::copy_n(static_cast<const std::byte*>(each.base), each.length, it);
                return static_cast<std::size_t>(it - static_cast<std::byte*>(into));
            },
            &all);
        return sent < 0 ? static_cast<ucs_status_t>(sent) : UCS_OK;
    }
    if (!may_send(1)) [[unlikely]]
        return reason_not_to_send();
    direct* const made = own().sends().get_direct();
    if (made == nullptr) return UCS_ERR_NO_MEMORY;
    const ucs_status_t status = made->pieces.use(own().device(), payload, memory_access::read,
                                                 std::span(made->list).subspan(1));
    if (status != UCS_OK) {
        transmitter::put_back(*made);
        return status;
    }
    if (!header.empty()) {
        std::memcpy(made->bytes + wire::header_size, header.data(), header.size());
    }
    made->length = static_cast<std::uint32_t>(wire::header_size + header.size());
    made->done = done;
    count(length);
    own().submit(*connection_, *made, id, wire::whole);
    return UCS_INPROGRESS;
}

}  // namespace uct::ud
