#include "test/conformance/support/sender.hpp"

namespace conformance {

namespace {

struct pack_source {
    const bytes* message;
    unsigned calls = 0;
};

std::size_t pack_all(void* arg, void* into, std::size_t capacity) {
    auto& source = *static_cast<pack_source*>(arg);
    ++source.calls;
    const std::size_t length = std::min(capacity, source.message->size());
    if (length > 0) std::memcpy(into, source.message->data(), length);
    return length;
}

// Cuts the payload into pieces of uneven lengths, one of them empty.
std::vector<uct::iov> cut(std::span<std::byte> payload, std::size_t max_pieces) {
    std::vector<uct::iov> pieces;
    if (max_pieces >= 3) {
        const std::size_t first = payload.size() / 3;
        pieces.push_back({payload.data(), first});
        pieces.push_back({payload.data() + first, 0});
        payload = payload.subspan(first);
    }
    pieces.push_back({payload.data(), payload.size()});
    return pieces;
}

}  // namespace

std::vector<uct::op> message_ops(const uct::iface_attr& attr) {
    std::vector<uct::op> found;
    for (const uct::op each : {uct::op::am_short, uct::op::am_bcopy, uct::op::am_zcopy}) {
        if (attr.ops.has(each)) found.push_back(each);
    }
    return found;
}

length_range lengths(const uct::iface_attr& attr, uct::op operation) {
    switch (operation) {
        case uct::op::am_short:
            return {header_size, header_size + attr.max_short};
        case uct::op::am_bcopy:
            return {header_size, attr.max_bcopy};
        default:
            return {header_size, attr.max_zcopy};
    }
}

ucs_status_t outgoing::post(uct::ep& via, const uct::iface_attr& limits) {
    ucs_status_t status = UCS_OK;
    if (which_ == uct::op::am_short) {
        std::uint64_t header = 0;
        std::memcpy(&header, message_.data(), sizeof header);
        status =
            via.am_short(id_, header, message_.data() + header_size, message_.size() - header_size);
    } else if (which_ == uct::op::am_bcopy) {
        pack_source source{&message_};
        const ssize_t packed = via.am_bcopy(id_, pack_all, &source);
        status = packed < 0 ? static_cast<ucs_status_t>(packed) : UCS_OK;
        // A pack that ran must have been for a message that goes out.
        if (source.calls != (packed < 0 ? 0U : 1U)) return UCS_ERR_IO_ERROR;
    } else {
        const std::size_t header =
            std::min({limits.max_zcopy_header, header_size, message_.size()});
        std::vector<std::byte> head(message_.begin(),
                                    message_.begin() + static_cast<std::ptrdiff_t>(header));
        const auto pieces = cut(std::span(message_).subspan(header), limits.max_iov);
        status = via.am_zcopy(id_, head, pieces, &done_);
        std::fill(head.begin(), head.end(), std::byte{0xdd});
        in_flight_ = status == UCS_INPROGRESS;
        if (in_flight_) return UCS_OK;
    }
    if (status == UCS_OK) spoil();
    return status;
}

void outgoing::spoil() noexcept {
    std::fill(message_.begin(), message_.end(), std::byte{0xdd});
}

ucs_status_t sender::try_send(side& from, uct::ep& via, uct::op operation, uct::am_id id,
                              const bytes& message) {
    auto fresh = std::make_unique<outgoing>(operation, id, message);
    last_ = fresh->post(via, from.attr());
    if (last_ == UCS_OK) messages_.push_back(std::move(fresh));
    return last_;
}

bool sender::send(side& from, uct::ep& via, uct::op operation, uct::am_id id,
                  const bytes& message) {
    const bool over = net_.run_until(
        [&] { return try_send(from, via, operation, id, message) != UCS_ERR_NO_RESOURCE; });
    return over && last_ == UCS_OK;
}

bool sender::all_ended() const {
    return std::all_of(messages_.begin(), messages_.end(),
                       [](const auto& m) { return m->ended(); });
}

bool sender::each_called_once() const {
    return std::all_of(messages_.begin(), messages_.end(),
                       [](const auto& m) { return m->calls() == (m->was_in_flight() ? 1U : 0U); });
}

}  // namespace conformance
