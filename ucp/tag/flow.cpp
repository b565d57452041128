#include "ucp/tag/flow.hpp"

#include <algorithm>
#include <limits>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/eager/wire.hpp"
#include "ucp/proto/credits.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/proto/wire.hpp"
#include "ucp/rndv/exposed_buffer.hpp"
#include "ucp/rndv/wire.hpp"
#include "ucp/tag/matcher.hpp"
#include "ucp/tag/message.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucp {

namespace {

void send_credit_message(const ep& endpoint, wire::id id) {
    const wire::credit_header header{endpoint.remote_id()};
    endpoint.remote().control().send(id, std::as_bytes(std::span(&header, 1)));
}

void on_credit_request(worker& owner, const wire::credit_header& header) {
    ep* const sender = owner.endpoints().find(header.ep);
    if (sender != nullptr) slot_of<tag_matcher>(owner).memory().credits_requested(*sender);
}

void on_credit_grant(worker& owner, const wire::credit_header& header) {
    ep* const endpoint = owner.endpoints().find(header.ep);
    if (endpoint != nullptr) slot_of<eager_credits>(endpoint->remote()).on_granted(*endpoint);
}

// Handles a request for more RTS messages; a repeated one changes nothing.
void on_more_rts(worker& owner, const wire::more_header& header) {
    ep* const endpoint = owner.endpoints().find(header.ep);
    if (endpoint != nullptr)
        slot_of<deferred_sends>(endpoint->remote()).on_more_allowed(header.stopped);
}

// Returns the bytes that `count` stored RTS messages take, each with keys of the greatest length.
std::size_t largest_rts_memory(unsigned count) noexcept {
    constexpr std::size_t each =
        eager_window::message_cost + message::keys_cost(longest_exposed_keys);
    if (count == std::numeric_limits<unsigned>::max())
        return std::numeric_limits<std::size_t>::max();
    return count * each;
}

}  // namespace

// A sender that respects the limit has at most three kinds of memory stored here: its window, the
// message that exceeded it, and the RTS messages that it may send. The sizes of its window and
// messages are assumed from this process's own settings, which the other processes of a job share.
unexpected_limits unexpected_limits::from_config(const config& options) noexcept {
    constexpr std::size_t least_share = std::size_t{16} << 20;
    const auto sum = [](std::size_t one, std::size_t other) {
        return one + std::min(other, std::numeric_limits<std::size_t>::max() - one);
    };
    const auto set = [](const ucs::config::memunits& size) {
        return size.is_auto() ? std::size_t{0} : size.bytes;
    };
    const std::size_t ordinary = options.unexpected_limit.bytes;
    const ucs::config::memunits& wanted = options.unexpected_hard_limit;
    const std::size_t hard = wanted.is_auto() ? sum(ordinary, ucs::sys::peer_memory_limit())
                                              : std::max(wanted.bytes, ordinary);
    const std::size_t window = options.unexpected_window.bytes;
    const std::size_t longest =
        std::max(set(options.rndv_threshold.intra), set(options.rndv_threshold.inter));
    const std::size_t in_order = sum(sum(sum(window, window), longest),
                                     largest_rts_memory(options.unexpected_announcements));
    const std::size_t well_behaved = std::max(least_share, in_order);
    return {ordinary, hard, std::min(well_behaved, hard - ordinary)};
}

// The sender may have other endpoints than this one, so the request is granted even if this
// endpoint closes.
void unexpected_memory::credits_requested(ep& sender) {
    if (can_grant()) {
        send_credit_message(sender, wire::credit_grant);
    } else if (!sender.credit_waiter_hook.is_linked()) {
        credit_waiters_.push_back(sender);
    }
}

void unexpected_memory::grant_all() {
    while (!credit_waiters_.empty()) {
        const ep& next = credit_waiters_.front();
        credit_waiters_.pop_front();
        send_credit_message(next, wire::credit_grant);
    }
}

void unexpected_memory::request_more_rts() noexcept {
    while (!deferring_peers_.empty()) {
        peer& sender = deferring_peers_.front();
        deferring_peers_.pop_front();
        slot_of<deferred_sends>(sender).request_more();
    }
}

void send_credit_request(const ep& endpoint) {
    send_credit_message(endpoint, wire::credit_request);
}

void flow_listen(worker& owner, uct::iface& iface) {
    handler_of<wire::credit_request>::install_plain<wire::credit_header, on_credit_request>(iface,
                                                                                            owner);
    handler_of<wire::credit_grant>::install_plain<wire::credit_header, on_credit_grant>(iface,
                                                                                        owner);
    handler_of<wire::rndv_more>::install_plain<wire::more_header, on_more_rts>(iface, owner);
}

}  // namespace ucp
