#include "ucp/tag/flow.hpp"

#include <algorithm>
#include <limits>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/eager/wire.hpp"
#include "ucp/rndv/lent.hpp"
#include "ucp/tag/message.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucp {

namespace {

void tell(const ep& to, wire::id id) {
    const wire::room_header header{to.remote_id()};
    to.remote().send_control(id, std::as_bytes(std::span(&header, 1)));
}

void on_question(worker& owner, const wire::room_header& header) {
    ep* const by = owner.find_ep(header.ep);
    if (by != nullptr) owner.matcher().room().asked(*by);
}

void on_answer(worker& owner, const wire::room_header& header) {
    ep* const to = owner.find_ep(header.ep);
    if (to != nullptr) to->remote().room_granted(*to);
}

// Returns the bytes that so many announcements take with the longest keys.
std::size_t most_announced(unsigned count) noexcept {
    constexpr std::size_t each = eager_budget::message_cost + message::keys_cost(longest_lent_key);
    if (count == std::numeric_limits<unsigned>::max())
        return std::numeric_limits<std::size_t>::max();
    return count * each;
}

}  // namespace

// A sender that heeds the limit has at most its window stored, the message that went beyond it, and
// the announcements that it may have. How large its window and messages may be, this process knows
// by its own settings, which others of a job share.
unexpected_limits unexpected_limits::of(const config& options) noexcept {
    constexpr std::size_t least_share = std::size_t{16} << 20;
    const auto sum = [](std::size_t one, std::size_t other) {
        return one + std::min(other, std::numeric_limits<std::size_t>::max() - one);
    };
    const auto set = [](const ucs::config::memunits& size) {
        return size.is_auto() ? std::size_t{0} : size.bytes;
    };
    const std::size_t ordinary = options.unexpected_limit.bytes;
    const ucs::config::memunits& wanted = options.unexpected_hard_limit;
    const std::size_t hard = wanted.is_auto() ? sum(ordinary, ucs::sys::most_for_peers())
                                              : std::max(wanted.bytes, ordinary);
    const std::size_t window = options.unexpected_window.bytes;
    const std::size_t longest =
        std::max(set(options.rndv_threshold.intra), set(options.rndv_threshold.inter));
    const std::size_t in_order =
        sum(sum(sum(window, window), longest), most_announced(options.unexpected_announcements));
    const std::size_t honest = std::max(least_share, in_order);
    return {ordinary, hard, std::min(honest, hard - ordinary)};
}

// The sender may have more endpoints than this one, so the question is answered whatever became of
// it.
void unexpected_room::asked(ep& by) {
    if (has_room()) {
        tell(by, wire::room_answer);
    } else if (!by.owed_hook.is_linked()) {
        owed_.push_back(by);
    }
}

void unexpected_room::answer_all() {
    while (!owed_.empty()) {
        const ep& next = owed_.front();
        owed_.pop_front();
        tell(next, wire::room_answer);
    }
}

void unexpected_room::ask_for_more() noexcept {
    while (!stopped_.empty()) {
        peer& sender = stopped_.front();
        stopped_.pop_front();
        sender.ask_for_more();
    }
}

void ask_for_room(const ep& to) {
    tell(to, wire::room_question);
}

void flow_listen(worker& owner, uct::iface& on) {
    handler_of<wire::room_question>::install_plain<wire::room_header, on_question>(on, owner);
    handler_of<wire::room_answer>::install_plain<wire::room_header, on_answer>(on, owner);
}

}  // namespace ucp
