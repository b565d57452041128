// Publications and look-ups of a TCP store's client.
#include <array>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucg/oob/tcp/leaf.hpp"
#include "ucg/oob/tcp/store.hpp"

namespace ucg::oob {

using wire::frame_kind;

void tcp_leaf::queue_frame(frame_kind kind, std::uint64_t number,
                           std::span<const std::byte> content) {
    control_frames_.push_back(
        {{kind, rank(), size(), job_, number}, {content.begin(), content.end()}});
}

// Refuses blocks beyond the limit, because rank 0 would drop this rank.
ucs_status_t tcp_leaf::put(std::uint64_t number, std::span<const std::byte> block) {
    const std::size_t bytes = tcp_store::cost_of(block.size());
    if (stored_bytes_ + bytes > tcp_store::max_of_rank) return UCS_ERR_EXCEEDS_LIMIT;
    queue_frame(frame_kind::published, number, block);
    stored_[number] = bytes;
    stored_bytes_ += bytes;
    return UCS_OK;
}

ucs_status_t tcp_leaf::find(std::uint64_t number, rank_t publisher, std::span<std::byte> into,
                            std::size_t& bytes) {
    const block_id id{number, publisher};
    auto known = lookups_.find(id);
    if (known == lookups_.end()) {
        std::array<std::byte, sizeof(rank_t)> content;
        wire::pack_lookup(publisher, content);
        queue_frame(frame_kind::lookup, number, content);
        ++pending_replies_;
        known = lookups_.try_emplace(id).first;
    }
    const ucs_status_t link = receive_replies();
    const lookup& found = known->second;
    ucs_status_t status = UCS_INPROGRESS;
    if (found.is_done && found.status != UCS_OK) {
        status = found.status;
        ucs::log::error(oob_log, "rank 0 at {} refuses the look-up of rank {}: {}", root_.text(),
                        publisher, ucs_status_string(status));
    } else if (found.is_done) {
        status = copy_block(found.block, into, bytes);
        if (status == UCS_ERR_BUFFER_TOO_SMALL) return status;  // the caller repeats the look-up
    } else if (link != UCS_INPROGRESS) {
        status = UCS_ERR_CONNECTION_RESET;
        ucs::log::error(oob_log, "rank 0 at {} {}: the look-up of rank {} fails", root_.text(),
                        link == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left",
                        publisher);
    }
    if (status != UCS_INPROGRESS) lookups_.erase(known);
    return status;
}

ucs_status_t tcp_leaf::drop(std::uint64_t number) {
    if (withdrawn_.insert(number).second) {
        queue_frame(frame_kind::withdrawn, number);
        std::erase_if(lookups_, [&](const auto& each) { return each.first.first == number; });
        stored_bytes_ -= stored_[number];
        stored_.erase(number);
    }
    if (receive_replies() == UCS_INPROGRESS && state_ == state::joined && !control_frames_.empty())
        return UCS_INPROGRESS;
    withdrawn_.erase(number);
    return UCS_OK;
}

void tcp_leaf::serve_requests() {
    static_cast<void>(receive_replies());
}

// UCS_INPROGRESS, or the reason why no more replies come: UCS_ERR_CONNECTION_RESET,
// UCS_ERR_INVALID_PARAM.
ucs_status_t tcp_leaf::receive_replies() {
    if (state_ != state::joined) return UCS_INPROGRESS;
    if (!link_) return UCS_ERR_CONNECTION_RESET;
    send_next();
    for (;;) {
        if (!link_->in_record()) {
            const ucs_status_t status = link_->read_header();
            if (status == UCS_INPROGRESS)
                return !lookups_.empty() && link_->is_silent() ? UCS_ERR_CONNECTION_RESET : status;
            if (status != UCS_OK) return status;
        }
        // The current round receives all other frames. Outside of rounds such a frame can only
        // announce the failure of the next round.
        if (link_->header().kind != frame_kind::reply)
            return is_in_round_ ? UCS_INPROGRESS : UCS_ERR_CONNECTION_RESET;
        const ucs_status_t status = receive_reply();
        if (status != UCS_OK) return status;
    }
}

ucs_status_t tcp_leaf::receive_reply() {
    const wire::header header = link_->header();
    reply_.resize(static_cast<std::size_t>(header.content));
    ucs_status_t status = link_->read_body(reply_);
    if (status != UCS_OK) return status;
    constexpr std::size_t head_size = wire::reply_head::size;
    const auto head = wire::parse_reply(std::span(reply_).first<head_size>(), size());
    // Unrequested replies are an error, because rank 0 could keep this rank reading for ever.
    if (!head || (head->status == UCS_OK) == (reply_.size() == head_size) ||
        pending_replies_ == 0) {
        link_.reset();  // the following frames cannot be trusted
        return UCS_ERR_INVALID_PARAM;
    }
    --pending_replies_;
    const auto known = lookups_.find({header.round, head->rank});
    if (known == lookups_.end()) return UCS_OK;  // the look-up was withdrawn
    known->second.is_done = true;
    known->second.status = head->status;
    known->second.block.assign(reply_.begin() + head_size, reply_.end());
    return UCS_OK;
}

}  // namespace ucg::oob
