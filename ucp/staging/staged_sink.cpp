#include "ucp/staging/staged_sink.hpp"

#include <algorithm>
#include <boost/intrusive/parent_from_member.hpp>
#include <cstring>
#include <new>
#include <utility>

#include "ucp/core/worker.hpp"
#include "ucs/memory/copy_any.hpp"

namespace ucp {

namespace {

constexpr std::size_t most_pieces = 16;  // of a part

// A shorter message is copied in one call, which waits for the device less than parts cost.
constexpr std::size_t least_staged = 16 * 1024;

}  // namespace

staged_sink::staged_sink(request& receive, dt::recv_buffer& buffer, device_copies& copies) noexcept
    : receive_(receive), buffer_(buffer), copies_(copies) {
    for (part& each : parts_)
        each.owner = this;
}

staged_sink::~staged_sink() {
    for (const part& each : parts_) {
        if (each.bytes != nullptr) copies_.parts().give_back(each.bytes);
    }
}

void staged_sink::attach(request& receive, dt::recv_buffer& buffer, std::size_t length) noexcept {
    if (!buffer.on_device() || buffer.pipeline() != nullptr || length < least_staged) return;
    auto& copies = slot_of<device_copies>(*receive.owner);
    if (!copies.are_possible()) return;
    copies.prepare_for(buffer);
    auto* const made = new (std::nothrow) staged_sink(receive, buffer, copies);
    if (made != nullptr) buffer.attach(made);
}

ucs_status_t staged_sink::write(std::size_t offset, const void* from, std::size_t length) noexcept {
    const auto* source = static_cast<const std::byte*>(from);
    while (length > 0 && outcome_ == UCS_OK) {
        part* const into = open_part(offset);
        if (into == nullptr) return buffer_.write(offset, source, length);
        const std::size_t room = copies_.parts().part_length() - into->length;
        const std::size_t taken = std::min(room, length);
        std::memcpy(into->bytes + into->length, source, taken);
        into->length += taken;
        offset += taken;
        source += taken;
        length -= taken;
        if (taken == room) copy_open();
    }
    return outcome_;
}

// Returns the part that takes the byte at `offset` next, or nullptr if all are being copied: then
// the device is slower than the network, and the sender has to wait.
staged_sink::part* staged_sink::open_part(std::size_t offset) noexcept {
    if (open_ != nullptr && open_->from + open_->length != offset) copy_open();
    if (open_ != nullptr) return open_;
    const auto free = std::ranges::find(parts_, false, &part::is_copying);
    if (free == parts_.end()) return nullptr;
    if (free->bytes == nullptr) free->bytes = copies_.parts().take(false);
    if (free->bytes == nullptr) return nullptr;
    free->from = offset;
    free->length = 0;
    return open_ = &*free;
}

void staged_sink::copy_open() noexcept {
    copy(*std::exchange(open_, nullptr));
}

// Starts to copy the bytes of a part to their place. on_copied() may run within the call.
void staged_sink::copy(part& full) noexcept {
    std::array<uct::iov, most_pieces> pieces;
    full.is_copying = true;
    full.copied = {.done = on_copied, .count = 1};
    ++copying_;
    ucs_status_t outcome = UCS_OK;
    for (std::size_t done = 0; done < full.length && outcome == UCS_OK;) {
        const dt::piece_list list =
            buffer_.pieces(full.from + done, full.length - done, std::span(pieces));
        for (const uct::iov& piece : std::span(pieces).first(list.count)) {
            if (outcome == UCS_OK)
                outcome = copies_.start_write(full.bytes + done, piece, full.copied);
            done += piece.length;
        }
    }
    full.copied.finish(outcome);
}

void staged_sink::on_copied(uct::completion& copied) noexcept {
    part& done = *boost::intrusive::get_parent_from_member(&copied, &part::copied);
    staged_sink& self = *done.owner;
    done.is_copying = false;
    --self.copying_;
    if (self.outcome_ == UCS_OK) self.outcome_ = copied.status;
    if (self.copying_ > 0 || self.done_ == nullptr) return;
    request& receive = self.receive_;
    const auto report = self.done_;
    // This object ends with the buffer.
    const ucs_status_t outcome = self.buffer_.finish(self.outcome_);
    report(receive, outcome);
}

bool staged_sink::end(ucs_status_t& outcome,
                      void (*done)(request& receive, ucs_status_t outcome)) noexcept {
    if (outcome != UCS_OK) outcome_ = outcome;
    if (open_ != nullptr) copy_open();
    if (copying_ == 0) {
        outcome = outcome_;
        return false;
    }
    done_ = done;
    return true;
}

}  // namespace ucp
