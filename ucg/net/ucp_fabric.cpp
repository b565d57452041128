#include "ucg/net/ucp_fabric.hpp"

#include <algorithm>
#include <utility>

#include "ucg/net/late_messages.hpp"
#include "ucg/net/tag.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::net {
namespace {

using schedule::rank_t;
using schedule::sequence_t;

// Keeps the request of a send or receive that did not end in the call.
void keep_request(schedule::step& step, ucs_status_ptr_t request) noexcept {
    step.state = request;
}

ucs_status_t status_of_length(const schedule::step& step, std::size_t length) noexcept {
    return length == step.bytes ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED;
}

}  // namespace

ucp_fabric::ucp_fabric(ucp_worker_h worker, control_messages& control, std::uint32_t group,
                       rank_t rank, member_addresses addresses, ucs::time::nanoseconds send_timeout)
    : worker_(worker),
      control_(control),
      group_(group),
      rank_(rank),
      peers_(worker, std::move(addresses), on_lost, on_endpoint_made, this),
      send_timeout_(send_timeout) {
    control_.add_group(group, *this);
}

// Drops messages for this group that were not received. Otherwise the next group with the same
// number would receive them.
ucp_fabric::~ucp_fabric() {
    const auto is_empty = [](const failures& each) { return each.begin() == each.end(); };
    control_.remove_group(group_, !std::ranges::all_of(failed_, is_empty));
    static_cast<void>(drop_messages(worker_, operation_tag(group_, 0), group_mask));
}

void ucp_fabric::post(schedule::step& step) noexcept {
    switch (step.kind) {
        case schedule::action::send:
            send(step);
            break;
        case schedule::action::receive:
            receive(step);
            break;
        case schedule::action::reduce:
        case schedule::action::copy:
            schedule::perform(step);
            step.owner->complete(step, UCS_OK);
            break;
        case schedule::action::node_collective:
            step.owner->complete(step, UCS_ERR_UNSUPPORTED);
            break;
    }
}

void ucp_fabric::send(schedule::step& step) noexcept {
    const auto to = peers_.endpoint(step.peer);
    if (!to) [[unlikely]] {
        if (to.status() == UCS_INPROGRESS)
            await_address(step);
        else
            step.owner->complete(step, to.status());
        return;
    }
    const ucs_status_ptr_t result = transmit(step, *to);
    if (UCS_PTR_IS_PTR(result)) {
        keep_request(step, result);
    } else {
        step.owner->complete(step, UCS_PTR_RAW_STATUS(result));
    }
}

ucs_status_ptr_t ucp_fabric::transmit(schedule::step& step, ucp_ep_h to) noexcept {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_sent;
    param.user_data = &step;
    const auto tag = message_tag(group_, step.owner->number(), step.channel, rank_);
    return ucp_tag_send_nbx(to, step.from, step.bytes, tag, &param);
}

void ucp_fabric::on_sent(void* request, ucs_status_t status, void* arg) {
    schedule::step& step = *static_cast<schedule::step*>(arg);
    ucp_request_free(request);
    step.owner->complete(step, status);
}

// Nothing more comes from a rank that is lost, except a message that is already there.
void ucp_fabric::receive(schedule::step& step) noexcept {
    ucp_tag_recv_info_t info{};
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_RECV_INFO;
    param.cb.recv = on_received;
    param.user_data = &step;
    param.recv_info.tag_info = &info;
    const auto tag = message_tag(group_, step.owner->number(), step.channel, step.peer);
    const ucs_status_ptr_t result =
        ucp_tag_recv_nbx(worker_, step.into, step.bytes, tag, ~std::uint64_t{0}, &param);
    if (UCS_PTR_IS_PTR(result)) {
        keep_request(step, result);
        if (peers_.failure(step.peer) != UCS_OK) ucp_request_cancel(worker_, result);
    } else {
        const ucs_status_t status = UCS_PTR_RAW_STATUS(result);
        step.owner->complete(step, status == UCS_OK ? status_of_length(step, info.length) : status);
    }
}

void ucp_fabric::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                             void* arg) {
    schedule::step& step = *static_cast<schedule::step*>(arg);
    const std::size_t length = info->length;
    ucp_request_free(request);
    step.owner->complete(step, status == UCS_OK ? status_of_length(step, length) : status);
}

// A send under way ends by itself: its peer receives the message, drops it (leave), or is lost.
void ucp_fabric::cancel(schedule::step& step) noexcept {
    if (step.kind == schedule::action::receive)
        ucp_request_cancel(worker_, step.state);
    else if (step.kind == schedule::action::send && remove_queued(step))
        step.owner->complete(step, UCS_ERR_CANCELED);
}

ucs_status_t ucp_fabric::begin_operation(schedule::operation& op, sequence_t& number) {
    number = numbers_.take(op.numbered());
    // The ranks that the new operation waits for are queried soon, however long other operations
    // have waited.
    query_interval_ = std::min(query_interval_, first_query_interval);
    running_.push_back(&op);
    return failed(number).status_of(number);
}

void ucp_fabric::end_operation(schedule::operation& op) noexcept {
    std::erase(running_, &op);
    if (const auto search = searches_.find(op.number()); search != searches_.end())
        search->second.close();
    query_interval_ = first_query_interval;
    std::erase_if(failed_operations_, [&](const failed_operation& each) { return each.op == &op; });
    if (op.status() != UCS_OK)
        static_cast<void>(
            drop_messages(worker_, operation_tag(group_, op.number()), operation_mask));
}

schedule::operation* ucp_fabric::find(sequence_t number) const noexcept {
    const auto found = std::ranges::find(running_, number, &schedule::operation::number);
    return found == running_.end() ? nullptr : *found;
}

// A lost rank ends the operations that wait for it now; send and receive end those that wait for it
// later. A rank that closed its group in order has done its part in all operations that others
// still work on.
// One operation is failed at a time, because the end of one may let the program free others or
// start some.
void ucp_fabric::on_lost(void* arg, rank_t lost, ucs_status_t why) {
    auto& self = *static_cast<ucp_fabric*>(arg);
    const auto is_affected = [lost](const schedule::operation* each) {
        return !each->failed() && each->is_waiting_for(lost);
    };
    auto next = self.running_.begin();
    while ((next = std::ranges::find_if(self.running_, is_affected)) != self.running_.end())
        (*next)->fail(why);
}

void ucp_fabric::report_failure(schedule::operation& op, ucs_status_t why) noexcept {
    spread_failure(op.number(), why);
}

void ucp_fabric::receive_failure(sequence_t number, ucs_status_t why) noexcept {
    if (failed(number).status_of(number) != UCS_OK || numbers_.starts_until(number) > max_ahead)
        return;
    if (find(number) == nullptr && failed(number).is_forgotten(number)) return;
    spread_failure(number, why);
    // The operation may have ended meanwhile because one of the sends failed.
    if (schedule::operation* const running = find(number)) running->fail_as_notified(why);
}

void ucp_fabric::receive_leave(std::uint64_t rank) noexcept {
    if (rank < size() && rank != rank_) peers_.mark_left(static_cast<rank_t>(rank));
}

// The peers' endpoints do not report it, because each rank's endpoints have connections of their
// own.
bool ucp_fabric::close() noexcept {
    if (!std::exchange(has_left_, true))
        peers_.for_each_endpoint([this](ucp_ep_h to) {
            control_.send_failure(to, {group_, control_messages::rank_left, std::uint64_t{rank_}});
        });
    return peers_.close();
}

// Reports a failure to the ranks at distances 1, 2, 4, ... A rank that learns of it for the first
// time does the same. So all ranks learn of it after a logarithmic number of steps, although some
// ranks in between may be gone.
void ucp_fabric::spread_failure(sequence_t number, ucs_status_t why) noexcept {
    try {
        failed(number).add(number, why,
                           numbers_.next(schedule::sequence_numbers::series_of(number)));
    } catch (const std::bad_alloc&) {
        // Messages for the operation then stay until the group ends.
    }
    const control_messages::failure notice{group_, static_cast<std::int32_t>(why), number};
    for (std::uint64_t distance = 1; distance < size(); distance *= 2) {
        const auto to_rank = static_cast<rank_t>((rank_ + distance) % size());
        const auto to = peers_.endpoint(to_rank);
        if (to)
            control_.send_failure(*to, notice);
        else if (to.status() == UCS_INPROGRESS)
            defer_notice(to_rank, notice);
    }
}

unsigned ucp_fabric::progress() noexcept try {
    constexpr unsigned polls_per_check = 64;
    constexpr ucs::time::nanoseconds between_services = 100'000;
    unsigned done = peers_.report_lost();
    if (ended_sends_ != nullptr || !address_queues_.empty() || !deferred_notices_.empty())
        [[unlikely]]
        done += progress_lookups();
    if (has_pending_queries_) [[unlikely]]
        query_pending();
    if (has_updates_) [[unlikely]]
        update_askers();
    if (++polls_ % polls_per_check != 0) return done;
    std::erase_if(searches_, [](const auto& each) { return each.second.is_closed(); });
    const ucs::time::nanoseconds now = ucs::time::now();
    if (now >= next_service_) {
        peers_.addresses().book()->serve();
        next_service_ = now + between_services;
    }
    if (running_.empty()) {
        next_query_ = never;
    } else {
        // An operation has begun or ended since the last query, so one may just have begun to wait.
        if (query_interval_ <= first_query_interval)
            next_query_ = std::min(next_query_, now + query_interval_);
        if (now >= next_query_) {
            query_missing();
            next_query_ = now + query_interval_;
        }
        give_up_sends(now);
    }
    return done + drop_failed();
} catch (const std::bad_alloc&) {
    return 0;  // the next call tries again
}

// A rank that lives but makes no progress would keep a failed operation from ending in time: the
// peer may read the operation's memory for as long as there is a connection.
void ucp_fabric::give_up_sends(ucs::time::nanoseconds now) {
    std::vector<rank_t> late;
    for (const schedule::operation* each : running_) {
        if (!each->failed()) continue;
        const auto found = std::ranges::find(failed_operations_, each, &failed_operation::op);
        const bool is_new = found == failed_operations_.end();
        if (is_new) failed_operations_.push_back({each, now});
        const bool all = !is_new && now - found->since >= send_timeout_;
        for (const rank_t rank : each->unsent())
            if (all || peers_.has_left(rank)) late.push_back(rank);
    }
    for (const rank_t rank : late)
        peers_.give_up(rank);
}

// Drops messages of failed operations that have ended on this rank or only wait for their own
// sends. If all ranks waited for each other to end first, none would end. A failed operation that
// has not started here drops its messages when it starts.
unsigned ucp_fabric::drop_failed() noexcept {
    unsigned done = 0;
    for (const failures& series_failures : failed_) {
        for (const auto& [number, why] : series_failures) {
            if (numbers_.starts_until(number) != 0) break;
            const schedule::operation* const running = find(number);
            if (running == nullptr || running->failed())
                done += drop_messages(worker_, operation_tag(group_, number), operation_mask);
        }
    }
    return done;
}

}  // namespace ucg::net
