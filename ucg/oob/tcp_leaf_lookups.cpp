// What a rank publishes at rank 0, and asks it.
#include <array>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucg/oob/tcp_leaf.hpp"
#include "ucg/oob/tcp_store.hpp"

namespace ucg::oob {

using wire::kind;

void tcp_leaf::write(kind what, std::uint64_t number, std::span<const std::byte> content) {
    letters_.push_back({{what, rank(), size(), job_, number}, {content.begin(), content.end()}});
}

// Rank 0 would drop who wants it to keep more.
ucs_status_t tcp_leaf::put(std::uint64_t number, std::span<const std::byte> block) {
    const std::size_t bytes = tcp_store::cost_of(block.size());
    if (kept_bytes_ + bytes > tcp_store::most_of_rank) return UCS_ERR_EXCEEDS_LIMIT;
    write(kind::published, number, block);
    kept_[number] = bytes;
    kept_bytes_ += bytes;
    return UCS_OK;
}

ucs_status_t tcp_leaf::find(std::uint64_t number, rank_t of, std::span<std::byte> into,
                            std::size_t& bytes) {
    const place at{number, of};
    auto known = inquiries_.find(at);
    if (known == inquiries_.end()) {
        std::array<std::byte, sizeof(rank_t)> asked;
        wire::pack_question(of, asked);
        write(kind::question, number, asked);
        ++owed_answers_;
        known = inquiries_.try_emplace(at).first;
    }
    const ucs_status_t link = see_answers();
    const inquiry& answer = known->second;
    ucs_status_t status = UCS_INPROGRESS;
    if (answer.is_answered && answer.status != UCS_OK) {
        status = answer.status;
        ucs::log::error(oob_log, "rank 0 at {} does not know where rank {} is: {}", root_.text(),
                        of, ucs_status_string(status));
    } else if (answer.is_answered) {
        status = hand_over(answer.block, into, bytes);
        if (status == UCS_ERR_BUFFER_TOO_SMALL) return status;  // the caller comes again
    } else if (link != UCS_INPROGRESS) {
        status = UCS_ERR_CONNECTION_RESET;
        ucs::log::error(oob_log, "rank 0 at {} {}: nobody says where rank {} is", root_.text(),
                        link == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left", of);
    }
    if (status != UCS_INPROGRESS) inquiries_.erase(known);
    return status;
}

ucs_status_t tcp_leaf::drop(std::uint64_t number) {
    if (withdrawn_.insert(number).second) {
        write(kind::withdrawn, number);
        std::erase_if(inquiries_, [&](const auto& each) { return each.first.first == number; });
        kept_bytes_ -= kept_[number];
        kept_.erase(number);
    }
    if (see_answers() == UCS_INPROGRESS && state_ == state::joined && !letters_.empty())
        return UCS_INPROGRESS;
    withdrawn_.erase(number);
    return UCS_OK;
}

void tcp_leaf::answer() {
    static_cast<void>(see_answers());
}

// UCS_INPROGRESS, or why no more answers come: UCS_ERR_CONNECTION_RESET, UCS_ERR_INVALID_PARAM.
ucs_status_t tcp_leaf::see_answers() {
    if (state_ != state::joined) return UCS_INPROGRESS;
    if (!link_) return UCS_ERR_CONNECTION_RESET;
    send_on();
    for (;;) {
        if (!link_->in_frame()) {
            const ucs_status_t status = link_->read_header();
            if (status == UCS_INPROGRESS)
                return !inquiries_.empty() && link_->is_silent() ? UCS_ERR_CONNECTION_RESET
                                                                 : status;
            if (status != UCS_OK) return status;
        }
        // Rounds take what is theirs. Outside of one it can only be that the next one fails.
        if (link_->header().what != kind::answer)
            return is_in_round_ ? UCS_INPROGRESS : UCS_ERR_CONNECTION_RESET;
        const ucs_status_t status = take_answer();
        if (status != UCS_OK) return status;
    }
}

ucs_status_t tcp_leaf::take_answer() {
    const wire::header what = link_->header();
    answer_.resize(static_cast<std::size_t>(what.content));
    ucs_status_t status = link_->read_body(answer_);
    if (status != UCS_OK) return status;
    constexpr std::size_t head_size = wire::answer_head::size;
    const auto head = wire::parse_answer(std::span(answer_).first<head_size>(), size());
    // A rank 0 that answers what was not asked could keep this rank reading for ever.
    if (!head || (head->status == UCS_OK) == (answer_.size() == head_size) || owed_answers_ == 0) {
        link_.reset();  // nothing that follows can be read
        return UCS_ERR_INVALID_PARAM;
    }
    --owed_answers_;
    const auto known = inquiries_.find({what.round, head->of});
    if (known == inquiries_.end()) return UCS_OK;  // nobody wants to know any more
    known->second.is_answered = true;
    known->second.status = head->status;
    known->second.block.assign(answer_.begin() + head_size, answer_.end());
    return UCS_OK;
}

}  // namespace ucg::oob
