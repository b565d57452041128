#include "ucg/net/ucp_fabric.hpp"

#include <algorithm>

#include "ucg/net/tag.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::net {
namespace {

using schedule::rank_t;
using schedule::sequence_t;
using schedule::step;

// A send or receive that did not end in the call carries its request here.
void keep(step& what, ucs_status_ptr_t request) noexcept {
    what.state = request;
}

ucs_status_t status_of_length(const step& what, std::size_t length) noexcept {
    return length == what.bytes ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED;
}

}  // namespace

ucp_fabric::ucp_fabric(ucp_worker_h worker, news& told, std::uint32_t group, rank_t rank,
                       std::vector<std::byte> addresses, std::size_t address_length)
    : worker_(worker),
      told_(told),
      group_(group),
      rank_(rank),
      peers_(worker, std::move(addresses), address_length, on_lost, this) {
    told_.add(group, *this);
}

ucp_fabric::~ucp_fabric() {
    told_.remove(group_);
}

void ucp_fabric::post(step& what) noexcept {
    switch (what.what) {
        case schedule::action::send:
            send(what);
            break;
        case schedule::action::receive:
            receive(what);
            break;
        case schedule::action::reduce:
        case schedule::action::copy:
            schedule::perform(what);
            what.owner->complete(what, UCS_OK);
            break;
        case schedule::action::together:
            what.owner->complete(what, UCS_ERR_UNSUPPORTED);
            break;
    }
}

void ucp_fabric::send(step& what) noexcept {
    const auto to = peers_.to(what.peer);
    if (!to) {
        what.owner->complete(what, to.status());
        return;
    }
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_sent;
    param.user_data = &what;
    const auto tag = message_tag(group_, what.owner->number(), what.channel, rank_);
    const ucs_status_ptr_t result = ucp_tag_send_nbx(*to, what.from, what.bytes, tag, &param);
    if (UCS_PTR_IS_PTR(result)) {
        keep(what, result);
    } else {
        what.owner->complete(what, UCS_PTR_RAW_STATUS(result));
    }
}

void ucp_fabric::on_sent(void* request, ucs_status_t status, void* arg) {
    step& what = *static_cast<step*>(arg);
    ucp_request_free(request);
    what.owner->complete(what, status);
}

// From a rank that is lost already nothing comes, unless it is here.
void ucp_fabric::receive(step& what) noexcept {
    ucp_tag_recv_info_t info{};
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_RECV_INFO;
    param.cb.recv = on_received;
    param.user_data = &what;
    param.recv_info.tag_info = &info;
    const auto tag = message_tag(group_, what.owner->number(), what.channel, what.peer);
    const ucs_status_ptr_t result =
        ucp_tag_recv_nbx(worker_, what.into, what.bytes, tag, ~std::uint64_t{0}, &param);
    if (UCS_PTR_IS_PTR(result)) {
        keep(what, result);
        if (peers_.failure(what.peer) != UCS_OK) ucp_request_cancel(worker_, result);
    } else {
        const ucs_status_t status = UCS_PTR_RAW_STATUS(result);
        what.owner->complete(what, status == UCS_OK ? status_of_length(what, info.length) : status);
    }
}

void ucp_fabric::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                             void* arg) {
    step& what = *static_cast<step*>(arg);
    const std::size_t length = info->length;
    ucp_request_free(request);
    what.owner->complete(what, status == UCS_OK ? status_of_length(what, length) : status);
}

// A send ends by itself: its peer takes the message, drops it (leave), or is lost.
void ucp_fabric::cancel(step& what) noexcept {
    if (what.what == schedule::action::receive) ucp_request_cancel(worker_, what.state);
}

ucs_status_t ucp_fabric::enter(schedule::operation& what, sequence_t& number) noexcept {
    number = next_++;
    try {
        running_.push_back(&what);
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
    const failed* const already = find_failed(number);
    return already == nullptr ? UCS_OK : already->why;
}

void ucp_fabric::leave(schedule::operation& what) noexcept {
    std::erase(running_, &what);
    if (what.status() != UCS_OK) static_cast<void>(drop_messages_of(what.number()));
}

// A rank that is lost ends what waits for it; and what comes to wait for it later (send, receive).
// One that closed its group in order has done its part in all that others still work on.
void ucp_fabric::on_lost(void* arg, rank_t lost, ucs_status_t why) {
    auto& self = *static_cast<ucp_fabric*>(arg);
    const std::vector<schedule::operation*> running = self.running_;
    // What ends may let the program free others.
    for (schedule::operation* each : running)
        if (std::ranges::find(self.running_, each) != self.running_.end() && each->waits_for(lost))
            each->fail(why);
}

void ucp_fabric::announce(schedule::operation& what, ucs_status_t why) noexcept {
    pass_on(what.number(), why);
}

void ucp_fabric::hear(sequence_t number, ucs_status_t why) noexcept {
    if (find_failed(number) != nullptr || number >= next_ + most_ahead) return;
    pass_on(number, why);
    const auto running = std::ranges::find_if(
        running_, [&](const schedule::operation* each) { return each->number() == number; });
    if (running != running_.end()) (*running)->fail_as_told(why);
}

const ucp_fabric::failed* ucp_fabric::find_failed(sequence_t number) const noexcept {
    const auto found = std::ranges::find(failed_, number, &failed::number);
    return found == failed_.end() ? nullptr : &*found;
}

// To the ranks at distances 1, 2, 4, …: whoever hears of it for the first time does the same, so
// all have heard after a logarithm of steps, although some of those in between may be gone.
void ucp_fabric::pass_on(sequence_t number, ucs_status_t why) noexcept {
    try {
        failed_.push_back({number, why});
        if (failed_.size() > most_failed) failed_.pop_front();
    } catch (const std::bad_alloc&) {
        // What comes for it is then matched by nobody, until the group ends.
    }
    const news::failure said{group_, static_cast<std::int32_t>(why), number};
    for (std::uint64_t distance = 1; distance < size(); distance *= 2) {
        const auto whom = static_cast<rank_t>((rank_ + distance) % size());
        if (const auto to = peers_.to(whom); to) news::tell(*to, said);
    }
}

// By a receive of no bytes, which takes nothing but ends the send.
unsigned ucp_fabric::drop_messages_of(sequence_t number) noexcept {
    unsigned dropped = 0;
    for (;; ++dropped) {
        ucp_tag_recv_info_t info{};
        ucp_tag_message_h const message =
            ucp_tag_probe_nb(worker_, operation_tag(group_, number), operation_mask, 1, &info);
        if (message == nullptr) return dropped;
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
        param.cb.recv = [](void* request, ucs_status_t, const ucp_tag_recv_info_t*, void*) {
            ucp_request_free(request);
        };
        static_cast<void>(ucp_tag_msg_recv_nbx(worker_, nullptr, 0, message, &param));
    }
}

unsigned ucp_fabric::progress() noexcept {
    constexpr unsigned seldom = 64;
    constexpr ucs::time::nanoseconds patience = 100'000'000;
    if (++looks_ % seldom != 0) return 0;
    if (!running_.empty()) {
        const ucs::time::nanoseconds now = ucs::time::now();
        if (now >= next_call_) {
            if (next_call_ != 0) call_missing();
            next_call_ = now + patience;
        }
    }
    return drop_failed();
}

// Whoever only receives from a rank has no connection that would tell of its end.
void ucp_fabric::call_missing() noexcept {
    for (const schedule::operation* each : running_) {
        for (const rank_t rank : each->missing()) {
            if (!peers_.is_called(rank)) {
                if (const auto to = peers_.to(rank); to) news::tell(*to, {group_, UCS_OK, 0});
            }
        }
    }
}

unsigned ucp_fabric::drop_failed() noexcept {
    unsigned done = 0;
    for (const failed& each : failed_) {
        // One that still runs here has receives of its own.
        const bool runs = std::ranges::any_of(running_, [&](const schedule::operation* other) {
            return other->number() == each.number;
        });
        if (!runs) done += drop_messages_of(each.number);
    }
    return done;
}

}  // namespace ucg::net
