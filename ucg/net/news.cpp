#include "ucg/net/news.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "ucg/net/ucp_fabric.hpp"

namespace ucg::net {
namespace {

template<class Message>
bool read(const void* header, std::size_t length, Message& message) noexcept {
    if (length != sizeof message) return false;
    std::memcpy(&message, header, sizeof message);
    return true;
}

// Copies the first ranks, as many as fit. Returns their number.
std::uint32_t put(const std::vector<schedule::rank_t>& ranks,
                  schedule::rank_t (&into)[news::answer::most]) noexcept {
    const std::size_t count = std::min<std::size_t>(ranks.size(), news::answer::most);
    std::copy_n(ranks.begin(), count, into);
    return static_cast<std::uint32_t>(count);
}

}  // namespace

ucs_status_t news::listen(ucp_worker_h worker) noexcept {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = am_id;
    param.cb = on_message;
    param.arg = this;
    return ucp_worker_set_am_recv_handler(worker, &param);
}

void news::stop_listening(ucp_worker_h worker) noexcept {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    param.id = am_id;
    static_cast<void>(ucp_worker_set_am_recv_handler(worker, &param));
}

ucs_status_t news::on_message(void* arg, const void* header, std::size_t header_length, void*,
                              std::size_t, const ucp_am_recv_param_t* param) {
    auto& self = *static_cast<news*>(arg);
    failure notice;
    question query;
    answer reply_message;
    const bool can_reply = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0;
    if (read(header, header_length, notice))
        self.receive(notice);
    else if (read(header, header_length, reply_message))
        self.receive(reply_message);
    else if (read(header, header_length, query) && can_reply)
        self.reply(query, param->reply_ep);
    return UCS_OK;
}

void news::receive(const failure& notice) noexcept {
    const auto found = groups_.find(notice.group);
    if (found == groups_.end())
        store_early(notice);
    else
        deliver(notice, *found->second);
}

void news::receive(const answer& reply) noexcept {
    const auto found = groups_.find(reply.group);
    if (found == groups_.end() || reply.blamed_count > news::answer::most ||
        reply.begun_count > news::answer::most)
        return;
    found->second->receive_report(reply.operation, reply.who,
                                  std::span(reply.blamed, reply.blamed_count),
                                  std::span(reply.begun, reply.begun_count));
}

void news::reply(const question& query, ucp_ep_h to) noexcept try {
    // reply_to_asker() notes the report as sent, so it is called only if the answer can be sent. An
    // asker that gets no answer sends its query again.
    if (!has_credit(to, max_answers)) return;
    if (!may_complete(query)) return send_failure(to, {query.group, left, query.awaited});
    const auto found = groups_.find(query.group);
    if (found == groups_.end()) return;
    // The failure report may have gone only to ranks that are gone.
    if (const ucs_status_t why = found->second->failure_of(query.operation); why != UCS_OK)
        return send_failure(to, {query.group, static_cast<std::int32_t>(why), query.operation});
    const auto report = found->second->reply_to_asker(query.operation, query.asker);
    if (report)
        static_cast<void>(
            send_answer(to, query.group, found->second->rank(), query.operation, *report));
} catch (const std::bad_alloc&) {
    // The asker sends its query again.
}

bool news::send_answer(ucp_ep_h to, std::uint32_t group, schedule::rank_t responder,
                       schedule::sequence_t operation,
                       const straggler_search::report& report) noexcept {
    answer message{group, responder, operation, 0, 0, {}, {}};
    message.blamed_count = put(report.waiting_for, message.blamed);
    message.begun_count = put(report.started, message.begun);
    return send(to, &message, sizeof message, 0, max_answers);
}

void news::deliver(const failure& notice, ucp_fabric& to) noexcept {
    if (notice.status == left) to.receive_leave(notice.number);
    if (notice.status >= 0) return;
    const bool is_known = notice.status > UCS_ERR_LAST;
    to.receive_failure(notice.number,
                       is_known ? static_cast<ucs_status_t>(notice.status) : UCS_ERR_IO_ERROR);
}

// A message for a group that is gone is not needed. There is room for the failures of some
// operations of large groups; the failures beyond that end by timeout.
void news::store_early(const failure& notice) noexcept try {
    constexpr std::size_t most = 4096;
    const bool is_making = is_used_ != nullptr && is_used_(is_used_arg_, notice.group);
    if (is_making && early_.size() < most) early_.push_back(notice);
} catch (const std::bad_alloc&) {
}

void news::add_group(std::uint32_t group, ucp_fabric& fabric) {
    groups_[group] = &fabric;
    const std::vector<failure> early = early_;
    drop_early(group);
    for (const failure& each : early)
        if (each.group == group) deliver(each, fabric);
}

// Returns whether the asker may still get what it waits for.
bool news::may_complete(const question& query) const noexcept {
    const auto found = groups_.find(query.group);
    if (found != groups_.end()) return !found->second->has_lost(query.asker);
    return is_used_ == nullptr || is_used_(is_used_arg_, query.group);
}

bool news::send_question(ucp_ep_h to, const question& query) noexcept {
    return send(to, &query, sizeof query, UCP_AM_SEND_FLAG_REPLY, max_answers);
}

news::message_under_way::message_under_way(std::shared_ptr<traffic> counts, ucp_ep_h to)
    : counts_(std::move(counts)), endpoint_(to) {
    ++(*counts_)[endpoint_];
}

news::message_under_way::~message_under_way() {
    const auto entry = counts_->find(endpoint_);
    if (--entry->second == 0) counts_->erase(entry);
}

bool news::has_credit(ucp_ep_h to, unsigned limit) const noexcept {
    const auto entry = under_way_->find(to);
    return entry == under_way_->end() || entry->second < limit;
}

bool news::send(ucp_ep_h to, const void* message, std::size_t bytes, unsigned flags,
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
