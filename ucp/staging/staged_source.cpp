#include "ucp/staging/staged_source.hpp"

#include <algorithm>
#include <boost/intrusive/parent_from_member.hpp>
#include <new>
#include <utility>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/send.hpp"

namespace ucp {

namespace {

constexpr std::size_t most_pieces = 16;  // of a part

}  // namespace

staged_source::staged_source(request& send, device_copies& copies) noexcept
    : send_(send), copies_(copies), next_(send.state.send.offset) {
    for (part& each : parts_)
        each.owner = this;
}

staged_source::~staged_source() {
    for (const part& each : parts_) {
        if (each.bytes != nullptr) copies_.parts().give_back(each.bytes);
    }
}

ucs_status_t staged_source::attach(request& send) noexcept {
    dt::send_buffer& buffer = send.state.send.buffer;
    if (buffer.pipeline() != nullptr) return UCS_OK;
    auto& copies = slot_of<device_copies>(*send.owner);
    if (!copies.are_possible()) return UCS_ERR_UNSUPPORTED;
    copies.prepare_for(buffer);
    auto* const made = new (std::nothrow) staged_source(send, copies);
    if (made == nullptr) {
        ucs::log::error(proto_log, "out of memory: {} bytes of a device are not sent",
                        buffer.length());
        return UCS_ERR_NO_MEMORY;
    }
    buffer.attach(made);
    return UCS_OK;
}

staged_source* staged_source::of(const request& send) noexcept {
    return static_cast<staged_source*>(send.state.send.buffer.pipeline());
}

ucs_status_t staged_source::find(std::size_t offset, range& into) noexcept {
    copy_ahead();
    const ucs_status_t failure = send_.state.send.parts.status;
    // The peer may have set it to a status that has a meaning for callers.
    if (failure == UCS_ERR_NO_RESOURCE || failure == UCS_INPROGRESS) return UCS_ERR_IO_ERROR;
    if (failure != UCS_OK) return failure;
    const part* const found = find_part(offset);
    if (found == nullptr) {
        // A part in use continues the send when it is free again.
        const bool is_any_used =
            std::ranges::any_of(parts_, [](const part& each) { return each.state != phase::idle; });
        if (!is_any_used) return UCS_ERR_NO_MEMORY;
    }
    if (found == nullptr || found->state != phase::ready) {
        is_awaited_ = true;
        return UCS_INPROGRESS;
    }
    const std::size_t skip = offset - found->from;
    into = {found->bytes + skip, found->length - skip, const_cast<uct::completion*>(&found->used)};
    return UCS_OK;
}

void staged_source::pass(std::size_t offset) noexcept {
    for (part& each : parts_) {
        if (each.state == phase::ready && each.from + each.length <= offset) give_up(each);
    }
}

void staged_source::abandon() noexcept {
    is_abandoned_ = true;
    is_awaited_ = false;
    for (part& each : parts_) {
        if (each.state == phase::ready) give_up(each);
    }
}

// The part is not needed any more, apart from the operations of the transport that read it.
void staged_source::give_up(part& done) noexcept {
    done.state = phase::passed;
    done.used.finish(UCS_OK);
}

const staged_source::part* staged_source::find_part(std::size_t offset) const noexcept {
    for (const part& each : parts_) {
        const bool is_there = each.state == phase::copying || each.state == phase::ready;
        if (is_there && offset - each.from < each.length) return &each;
    }
    return nullptr;
}

void staged_source::copy_ahead() noexcept {
    bool has_any = false;
    for (part& each : parts_) {
        if (is_abandoned_ || next_ >= send_.state.send.buffer.length() ||
            send_.state.send.parts.status != UCS_OK) {
            return;
        }
        if (each.state == phase::idle) {
            // The first part is given beyond the limit: a send without any would wait for ever.
            if (each.bytes == nullptr) each.bytes = copies_.parts().take(!has_any);
            if (each.bytes == nullptr) return;
            copy(each);
        }
        has_any = true;
    }
}

// Starts to copy the next bytes. on_copied() may run within the call.
void staged_source::copy(part& into) noexcept {
    send_state& state = send_.state.send;
    std::array<uct::iov, most_pieces> pieces;
    const std::size_t room = std::min(copies_.parts().part_length(), state.buffer.length() - next_);
    const dt::piece_list list = state.buffer.pieces(next_, room, pieces);
    into.from = next_;
    into.length = list.length;
    into.state = phase::copying;
    into.copied = {.done = on_copied, .count = 1};
    into.used = {.done = on_used, .count = 1};
    ++state.parts.count;
    next_ += list.length;
    std::byte* to = into.bytes;
    ucs_status_t outcome = UCS_OK;
    for (const uct::iov& piece : std::span(pieces).first(list.count)) {
        outcome = copies_.start_read(to, piece, into.copied);
        if (outcome != UCS_OK) break;
        to += piece.length;
    }
    into.copied.finish(outcome);
}

void staged_source::on_copied(uct::completion& copied) noexcept {
    part& done = *boost::intrusive::get_parent_from_member(&copied, &part::copied);
    staged_source& self = *done.owner;
    request& send = self.send_;
    const bool is_awaited = std::exchange(self.is_awaited_, false);
    if (copied.status == UCS_OK && !self.is_abandoned_) {
        done.state = phase::ready;
    } else {
        done.state = phase::idle;
        // This may end a send that was aborted, and this object with it.
        send.state.send.parts.finish(copied.status);
    }
    if (is_awaited) continue_send(send);
}

void staged_source::on_used(uct::completion& used) noexcept {
    part& done = *boost::intrusive::get_parent_from_member(&used, &part::used);
    staged_source& self = *done.owner;
    request& send = self.send_;
    done.state = phase::idle;
    self.copy_ahead();
    // A send that waits for data does not end here, because it counts a part itself.
    const bool is_awaited = self.is_awaited_;
    // This may end the send, and this object with it.
    send.state.send.parts.finish(used.status);
    if (!is_awaited || send.state.send.parts.status == UCS_OK) return;
    self.is_awaited_ = false;
    continue_send(send);
}

}  // namespace ucp
