#include "ucg/net/ucp_fabric.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ucg/net/late_messages.hpp"
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
                       contacts all, ucs::time::nanoseconds patience)
    : worker_(worker),
      told_(told),
      group_(group),
      rank_(rank),
      peers_(worker, std::move(all), on_lost, on_reached, this),
      patience_(patience) {
    told_.add(group, *this);
}

// What came for this group and was not wanted would be taken for the next one's with its number.
ucp_fabric::~ucp_fabric() {
    const auto is_empty = [](const failures& each) { return each.begin() == each.end(); };
    told_.remove(group_, !std::ranges::all_of(failed_, is_empty));
    static_cast<void>(drop_messages(worker_, operation_tag(group_, 0), group_mask));
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
    if (!to) [[unlikely]] {
        if (to.status() == UCS_INPROGRESS)
            await_address(what);
        else
            what.owner->complete(what, to.status());
        return;
    }
    const ucs_status_ptr_t result = transmit(what, *to);
    if (UCS_PTR_IS_PTR(result)) {
        keep(what, result);
    } else {
        what.owner->complete(what, UCS_PTR_RAW_STATUS(result));
    }
}

ucs_status_ptr_t ucp_fabric::transmit(step& what, ucp_ep_h to) noexcept {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_sent;
    param.user_data = &what;
    const auto tag = message_tag(group_, what.owner->number(), what.channel, rank_);
    return ucp_tag_send_nbx(to, what.from, what.bytes, tag, &param);
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

// A send that is on its way ends by itself: its peer takes the message, drops it (leave), or is
// lost.
void ucp_fabric::cancel(step& what) noexcept {
    if (what.what == schedule::action::receive)
        ucp_request_cancel(worker_, what.state);
    else if (what.what == schedule::action::send && take_back(what))
        what.owner->complete(what, UCS_ERR_CANCELED);
}

ucs_status_t ucp_fabric::enter(schedule::operation& what, sequence_t& number) noexcept {
    number = numbers_.take(what.numbered());
    // Those that it waits for are asked as soon, however long others have waited.
    between_calls_ = std::min(between_calls_, first_call);
    try {
        running_.push_back(&what);
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
    return failed(number).of(number);
}

void ucp_fabric::leave(schedule::operation& what) noexcept {
    std::erase(running_, &what);
    if (const auto book = blames_.find(what.number()); book != blames_.end()) book->second.close();
    between_calls_ = first_call;
    std::erase_if(ending_, [&](const ending& each) { return each.which == &what; });
    if (what.status() != UCS_OK)
        static_cast<void>(
            drop_messages(worker_, operation_tag(group_, what.number()), operation_mask));
}

schedule::operation* ucp_fabric::find(sequence_t number) const noexcept {
    const auto found = std::ranges::find(running_, number, &schedule::operation::number);
    return found == running_.end() ? nullptr : *found;
}

// A rank that is lost ends what waits for it; and what comes to wait for it later (send, receive).
// One that closed its group in order has done its part in all that others still work on. What ends
// may let the program free others, or start some: so one after the other.
void ucp_fabric::on_lost(void* arg, rank_t lost, ucs_status_t why) {
    auto& self = *static_cast<ucp_fabric*>(arg);
    const auto hurt = [lost](const schedule::operation* each) {
        return !each->failed() && each->waits_for(lost);
    };
    auto next = self.running_.begin();
    while ((next = std::ranges::find_if(self.running_, hurt)) != self.running_.end())
        (*next)->fail(why);
}

void ucp_fabric::announce(schedule::operation& what, ucs_status_t why) noexcept {
    pass_on(what.number(), why);
}

void ucp_fabric::hear(sequence_t number, ucs_status_t why) noexcept {
    if (failed(number).of(number) != UCS_OK || numbers_.ahead(number) > most_ahead) return;
    if (find(number) == nullptr && failed(number).is_forgotten(number)) return;
    pass_on(number, why);
    // A send that failed meanwhile may have ended it.
    if (schedule::operation* const running = find(number)) running->fail_as_told(why);
}

void ucp_fabric::hear_of_leaving(std::uint64_t rank) noexcept {
    if (rank < size() && rank != rank_) peers_.note_left(static_cast<rank_t>(rank));
}

// Their endpoints do not tell them: each has connections of its own.
bool ucp_fabric::close() noexcept {
    if (!std::exchange(leaves_, true))
        peers_.tell_all([this](ucp_ep_h to) {
            told_.tell(to, {group_, news::left, std::uint64_t{rank_}});
        });
    return peers_.close();
}

// To the ranks at distances 1, 2, 4, …: whoever hears of it for the first time does the same, so
// all have heard after a logarithm of steps, although some of those in between may be gone.
void ucp_fabric::pass_on(sequence_t number, ucs_status_t why) noexcept {
    try {
        failed(number).add(number, why, numbers_.next(schedule::numbering::series_of(number)));
    } catch (const std::bad_alloc&) {
        // What comes for it is then matched by nobody, until the group ends.
    }
    const news::failure said{group_, static_cast<std::int32_t>(why), number};
    for (std::uint64_t distance = 1; distance < size(); distance *= 2) {
        const auto whom = static_cast<rank_t>((rank_ + distance) % size());
        const auto to = peers_.to(whom);
        if (to)
            told_.tell(*to, said);
        else if (to.status() == UCS_INPROGRESS)
            owe(whom, said);
    }
}

unsigned ucp_fabric::progress() noexcept try {
    constexpr unsigned seldom = 64;
    constexpr ucs::time::nanoseconds between_services = 100'000;
    unsigned done = peers_.tell_lost();
    if (sent_ != nullptr || !queues_.empty() || !debts_.empty()) [[unlikely]]
        done += look_up();
    if (asks_) [[unlikely]]
        ask_pending();
    if (tells_) [[unlikely]]
        tell_askers();
    if (++looks_ % seldom != 0) return done;
    std::erase_if(blames_, [](const auto& each) { return each.second.is_closed(); });
    const ucs::time::nanoseconds now = ucs::time::now();
    if (now >= next_service_) {
        peers_.all().book()->serve();
        next_service_ = now + between_services;
    }
    if (running_.empty()) {
        next_call_ = never;
    } else {
        // An operation has begun or ended since, so one may just have begun to wait.
        if (between_calls_ <= first_call) next_call_ = std::min(next_call_, now + between_calls_);
        if (now >= next_call_) {
            call_missing();
            next_call_ = now + between_calls_;
        }
        give_up_sends(now);
    }
    return done + drop_failed();
} catch (const std::bad_alloc&) {
    return 0;  // the next time, perhaps
}

// A rank that lives but does not look after its messages would keep an operation from ending whose
// time is up: its memory may be read from there as long as there is a connection.
void ucp_fabric::give_up_sends(ucs::time::nanoseconds now) {
    std::vector<rank_t> late;
    for (const schedule::operation* each : running_) {
        if (!each->failed()) continue;
        const auto known = std::ranges::find(ending_, each, &ending::which);
        const bool is_new = known == ending_.end();
        if (is_new) ending_.push_back({each, now});
        const bool all = !is_new && now - known->since >= patience_;
        for (const rank_t rank : each->unsent())
            if (all || peers_.has_left(rank)) late.push_back(rank);
    }
    for (const rank_t rank : late)
        peers_.give_up(rank);
}

// Those that are over here, or only wait for their own sends: where all of them waited for each
// other's end first, none would come to it. One that was not started drops them when it is.
unsigned ucp_fabric::drop_failed() noexcept {
    unsigned done = 0;
    for (const failures& of_series : failed_) {
        for (const auto& [number, why] : of_series) {
            if (numbers_.ahead(number) != 0) break;
            const schedule::operation* const running = find(number);
            if (running == nullptr || running->failed())
                done += drop_messages(worker_, operation_tag(group_, number), operation_mask);
        }
    }
    return done;
}

}  // namespace ucg::net
