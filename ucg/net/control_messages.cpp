#include "ucg/net/control_messages.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "ucg/net/ucp_fabric.hpp"
#include "ucs/wire/codec.hpp"

namespace ucg::net {
namespace {

// Copies the first ranks, as many as fit. Returns their number.
std::uint32_t put(const std::vector<schedule::rank_t>& ranks,
                  schedule::rank_t (&into)[control_messages::reply::max_listed]) noexcept {
    const std::size_t count =
        std::min<std::size_t>(ranks.size(), control_messages::reply::max_listed);
    std::copy_n(ranks.begin(), count, into);
    return static_cast<std::uint32_t>(count);
}

}  // namespace

ucs_status_t control_messages::listen(ucp_worker_h worker) noexcept {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = am_id;
    param.cb = on_message;
    param.arg = this;
    return ucp_worker_set_am_recv_handler(worker, &param);
}

void control_messages::stop_listening(ucp_worker_h worker) noexcept {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    param.id = am_id;
    static_cast<void>(ucp_worker_set_am_recv_handler(worker, &param));
}

ucs_status_t control_messages::on_message(void* arg, const void* header, std::size_t header_length,
                                          void*, std::size_t, const ucp_am_recv_param_t* param) {
    auto& self = *static_cast<control_messages*>(arg);
    const ucs::wire::view message(static_cast<const std::byte*>(header), header_length);
    const bool can_reply = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0;
    if (const auto notice = ucs::wire::read<failure>(message))
        self.receive(*notice);
    else if (const auto answer = ucs::wire::read<reply>(message))
        self.receive(*answer);
    else if (const auto question = ucs::wire::read<query>(message); question && can_reply)
        self.respond(*question, param->reply_ep);
    return UCS_OK;
}

void control_messages::receive(const failure& notice) noexcept {
    const auto found = groups_.find(notice.group);
    if (found == groups_.end())
        store_early(notice);
    else
        deliver(notice, *found->second);
}

void control_messages::receive(const reply& message) noexcept {
    const auto found = groups_.find(message.group);
    if (found == groups_.end() || message.waiting_for_count > control_messages::reply::max_listed ||
        message.started_count > control_messages::reply::max_listed)
        return;
    found->second->receive_report(message.operation, message.responder,
                                  std::span(message.waiting_for, message.waiting_for_count),
                                  std::span(message.started, message.started_count));
}

void control_messages::respond(const query& message, ucp_ep_h to) noexcept try {
    // reply_to_asker() notes the report as sent, so it is called only if the reply can be sent. An
    // asker that gets no reply sends its query again.
    if (!has_credit(to, max_replies)) return;
    if (!may_complete(message))
        return send_failure(to, {message.group, rank_left, message.awaited});
    const auto found = groups_.find(message.group);
    if (found == groups_.end()) return;
    // The failure may have been sent only to ranks that are gone, so this rank sends it again.
    if (const ucs_status_t why = found->second->failure_of(message.operation); why != UCS_OK)
        return send_failure(to, {message.group, static_cast<std::int32_t>(why), message.operation});
    const auto report = found->second->reply_to_asker(message.operation, message.asker);
    if (report)
        static_cast<void>(
            send_reply(to, message.group, found->second->rank(), message.operation, *report));
} catch (const std::bad_alloc&) {
    // The asker sends its query again.
}

bool control_messages::send_reply(ucp_ep_h to, std::uint32_t group, schedule::rank_t responder,
                                  schedule::sequence_t operation,
                                  const straggler_search::report& report) noexcept {
    reply message{group, responder, operation, 0, 0, {}, {}};
    message.waiting_for_count = put(report.waiting_for, message.waiting_for);
    message.started_count = put(report.started, message.started);
    return send(to, &message, sizeof message, 0, max_replies);
}

void control_messages::deliver(const failure& notice, ucp_fabric& to) noexcept {
    if (notice.status == rank_left) to.receive_leave(notice.number);
    if (notice.status >= 0) return;
    const bool is_known = notice.status > UCS_ERR_LAST;
    to.receive_failure(notice.number,
                       is_known ? static_cast<ucs_status_t>(notice.status) : UCS_ERR_IO_ERROR);
}

// A message for a group that is gone is dropped. The limit leaves room for the failures of some
// operations of large groups. If a failure beyond the limit is dropped, its operation ends by
// timeout.
void control_messages::store_early(const failure& notice) noexcept try {
    constexpr std::size_t most = 4096;
    const bool is_making = is_used_ != nullptr && is_used_(is_used_arg_, notice.group);
    if (is_making && early_.size() < most) early_.push_back(notice);
} catch (const std::bad_alloc&) {
}

void control_messages::add_group(std::uint32_t group, ucp_fabric& fabric) {
    groups_[group] = &fabric;
    const std::vector<failure> early = early_;
    drop_early(group);
    for (const failure& each : early)
        if (each.group == group) deliver(each, fabric);
}

// Returns whether the operation of the asker can still complete: this rank has the group, or may
// still make it, and has not lost the asker.
bool control_messages::may_complete(const query& message) const noexcept {
    const auto found = groups_.find(message.group);
    if (found != groups_.end()) return !found->second->has_lost(message.asker);
    return is_used_ == nullptr || is_used_(is_used_arg_, message.group);
}

bool control_messages::send_query(ucp_ep_h to, const query& message) noexcept {
    return send(to, &message, sizeof message, UCP_AM_SEND_FLAG_REPLY, max_replies);
}

control_messages::message_under_way::message_under_way(std::shared_ptr<traffic> counts, ucp_ep_h to)
    : counts_(std::move(counts)), endpoint_(to) {
    ++(*counts_)[endpoint_];
}

control_messages::message_under_way::~message_under_way() {
    const auto entry = counts_->find(endpoint_);
    if (--entry->second == 0) counts_->erase(entry);
}

bool control_messages::has_credit(ucp_ep_h to, unsigned limit) const noexcept {
    const auto entry = under_way_->find(to);
    return entry == under_way_->end() || entry->second < limit;
}

bool control_messages::send(ucp_ep_h to, const void* message, std::size_t bytes, unsigned flags,
                            unsigned limit) noexcept try {
    if (!has_credit(to, limit)) return false;
    auto sent = std::make_unique<message_under_way>(under_way_, to);
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.flags = static_cast<std::uint32_t>(UCP_AM_SEND_FLAG_EAGER) |
                  static_cast<std::uint32_t>(UCP_AM_SEND_FLAG_COPY_HEADER) | flags;
    param.cb.send = [](void* request, ucs_status_t, void* arg) {
        delete static_cast<message_under_way*>(arg);
        ucp_request_free(request);
    };
    param.user_data = sent.get();
    if (UCS_PTR_IS_PTR(ucp_am_send_nbx(to, am_id, message, bytes, nullptr, 0, &param)))
        static_cast<void>(sent.release());
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

}  // namespace ucg::net
