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
bool read(const void* header, std::size_t length, Message& into) noexcept {
    if (length != sizeof into) return false;
    std::memcpy(&into, header, sizeof into);
    return true;
}

// The first of them.
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

void news::ignore(ucp_worker_h worker) noexcept {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    param.id = am_id;
    static_cast<void>(ucp_worker_set_am_recv_handler(worker, &param));
}

ucs_status_t news::on_message(void* arg, const void* header, std::size_t header_length, void*,
                              std::size_t, const ucp_am_recv_param_t* param) {
    auto& self = *static_cast<news*>(arg);
    failure failed;
    question asked;
    answer answered;
    const bool can_answer = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0;
    if (read(header, header_length, failed))
        self.hear(failed);
    else if (read(header, header_length, answered))
        self.hear(answered);
    else if (read(header, header_length, asked) && can_answer)
        self.reply(asked, param->reply_ep);
    return UCS_OK;
}

void news::hear(const failure& said) noexcept {
    const auto found = groups_.find(said.group);
    if (found == groups_.end())
        keep(said);
    else
        hand_over(said, *found->second);
}

void news::hear(const answer& said) noexcept {
    const auto found = groups_.find(said.group);
    if (found == groups_.end() || said.blamed_count > answer::most ||
        said.begun_count > answer::most)
        return;
    found->second->hear_of_blame(said.operation, said.who,
                                 std::span(said.blamed, said.blamed_count),
                                 std::span(said.begun, said.begun_count));
}

void news::reply(const question& asked, ucp_ep_h to) noexcept try {
    // An answer is noted as said. One that asks and does not read asks again.
    if (!has_room(to, most_answers)) return;
    if (!expects(asked)) return tell(to, {asked.group, left, asked.whom});
    const auto found = groups_.find(asked.group);
    if (found == groups_.end()) return;
    // The word of that may have gone to nobody but ranks that are gone.
    if (const ucs_status_t why = found->second->failure_of(asked.operation); why != UCS_OK)
        return tell(to, {asked.group, static_cast<std::int32_t>(why), asked.operation});
    const auto said = found->second->answer(asked.operation, asked.who);
    if (said)
        static_cast<void>(explain(to, asked.group, found->second->rank(), asked.operation, *said));
} catch (const std::bad_alloc&) {
    // It is asked again.
}

bool news::explain(ucp_ep_h whom, std::uint32_t group, schedule::rank_t who,
                   schedule::sequence_t operation, const blame::word& said) noexcept {
    answer made{group, who, operation, 0, 0, {}, {}};
    made.blamed_count = put(said.blamed, made.blamed);
    made.begun_count = put(said.begun, made.begun);
    return send(whom, &made, sizeof made, 0, most_answers);
}

void news::hand_over(const failure& said, ucp_fabric& to) noexcept {
    if (said.status == left) to.hear_of_leaving(said.number);
    if (said.status >= 0) return;
    const bool known = said.status > UCS_ERR_LAST;
    to.hear(said.number, known ? static_cast<ucs_status_t>(said.status) : UCS_ERR_IO_ERROR);
}

// Of a group that is gone nobody wants it. There is room for what some operations of large groups
// make; beyond that a timeout tells.
void news::keep(const failure& said) noexcept try {
    constexpr std::size_t most = 4096;
    const bool is_making = is_used_ != nullptr && is_used_(is_used_arg_, said.group);
    if (is_making && early_.size() < most) early_.push_back(said);
} catch (const std::bad_alloc&) {
}

void news::add(std::uint32_t group, ucp_fabric& fabric) {
    groups_[group] = &fabric;
    const std::vector<failure> early = early_;
    forget(group);
    for (const failure& each : early)
        if (each.group == group) hand_over(each, fabric);
}

// Whether the one that waits may still get what it waits for.
bool news::expects(const question& asked) const noexcept {
    const auto found = groups_.find(asked.group);
    if (found != groups_.end()) return !found->second->has_lost(asked.who);
    return is_used_ == nullptr || is_used_(is_used_arg_, asked.group);
}

bool news::ask(ucp_ep_h whom, const question& asked) noexcept {
    return send(whom, &asked, sizeof asked, UCP_AM_SEND_FLAG_REPLY, most_answers);
}

news::message_under_way::message_under_way(std::shared_ptr<traffic> among, ucp_ep_h to)
    : among_(std::move(among)), to_(to) {
    ++(*among_)[to_];
}

news::message_under_way::~message_under_way() {
    const auto known = among_->find(to_);
    if (--known->second == 0) among_->erase(known);
}

bool news::has_room(ucp_ep_h whom, unsigned most) const noexcept {
    const auto known = under_way_->find(whom);
    return known == under_way_->end() || known->second < most;
}

bool news::send(ucp_ep_h whom, const void* message, std::size_t bytes, unsigned flags,
                unsigned most) noexcept try {
    if (!has_room(whom, most)) return false;
    auto sent = std::make_unique<message_under_way>(under_way_, whom);
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
    if (UCS_PTR_IS_PTR(ucp_am_send_nbx(whom, am_id, message, bytes, nullptr, 0, &param)))
        static_cast<void>(sent.release());
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

}  // namespace ucg::net
