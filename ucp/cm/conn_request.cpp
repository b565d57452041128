#include "ucp/cm/conn_request.hpp"

namespace ucp::cm {

void pending_requests::add(conn_request& fresh) {
    const std::lock_guard guard(guard_);
    fresh.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &fresh;
    first_ = &fresh;
}

void pending_requests::remove(conn_request& answered) {
    const std::lock_guard guard(guard_);
    (answered.previous_ != nullptr ? answered.previous_->next_ : first_) = answered.next_;
    if (answered.next_ != nullptr) answered.next_->previous_ = answered.previous_;
}

void pending_requests::clear(manager& parent) {
    const std::lock_guard guard(guard_);
    while (first_ != nullptr) {
        const std::unique_ptr<conn_request> lost(first_);
        first_ = lost->next_;
        lost->refuse(wire::reason::not_served, parent);
    }
}

void conn_request::hand_over(std::shared_ptr<pending_requests> to) {
    pending_ = std::move(to);
    pending_->add(*this);
}

std::unique_ptr<conn_request> conn_request::take_back(conn_request& answered) {
    answered.pending_->remove(answered);
    return std::unique_ptr<conn_request>(&answered);
}

void conn_request::refuse(wire::reason why, manager& parent) noexcept {
    if (channel_ == nullptr) return;
    if (step(phase::offered, event::reject).todo == action::refuse) channel_->send_refusal(why);
    parent.drain(std::move(channel_));
}

bool conn_request::alive() noexcept {
    frame_reader rest;
    return channel_->read(rest) == channel::input::nothing_yet;
}

}  // namespace ucp::cm
