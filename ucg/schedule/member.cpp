#include "ucg/schedule/member.hpp"

#include "ucg/schedule/operation.hpp"

namespace ucg::schedule {

member member::part(const rank_t* ranks, rank_t rank, rank_t size) const noexcept {
    member made(*owner_, rank, size);
    made.ranks_ = ranks;
    made.channel_ = channel_;
    made.scratch_ = scratch_;
    return made;
}

member member::on_channel(channel_t channel) const noexcept {
    member made = *this;
    made.channel_ = channel;
    return made;
}

member member::with(arena& scratch) const noexcept {
    member made = *this;
    made.scratch_ = &scratch;
    return made;
}

local_work member::reduce(const reducer& op, void* into, const void* left, const void* right,
                          std::size_t count, bool last) noexcept {
    return {*this, into, {&op, {left, right}, 2, count, last}};
}

const placement& member::node_placement() const noexcept {
    return *owner_->used_fabric().node_placement();
}

std::byte* member::scratch(std::size_t bytes) noexcept {
    std::byte* const taken = (scratch_ != nullptr ? *scratch_ : owner_->scratch()).take(bytes);
    if (taken == nullptr) owner_->fail(UCS_ERR_EXCEEDS_LIMIT);
    return taken;
}

void* task::promise_type::allocate(std::size_t bytes, member& me) noexcept {
    void* frame = me.owner().frames().allocate(bytes);
    if (frame == nullptr) me.owner().fail(UCS_ERR_NO_MEMORY);
    return frame;
}

void task::promise_type::release(void* frame) noexcept {
    frame_pool::release(frame);
}

}  // namespace ucg::schedule
