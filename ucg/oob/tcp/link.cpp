#include "ucg/oob/tcp/link.hpp"

#include <algorithm>
#include <cassert>

#include "ucs/net/socket.hpp"

namespace ucg::oob {
namespace {

// The kernel detects a host that vanished within half a minute.
constexpr ucs::net::liveness probing{.idle = 10, .interval = 5, .probes = 4};
constexpr ucs::time::nanoseconds check_interval = 8 * ucs::time::second;

}  // namespace

tcp_link::tcp_link(ucs::unique_fd socket) noexcept : record_stream(std::move(socket)) {
    ucs::net::make_lively(fd(), probing);
}

bool tcp_link::is_silent() noexcept {
    const auto now = ucs::time::now();
    if (now < next_check_) return false;
    next_check_ = now + check_interval;
    const auto liveness = ucs::net::reply_state_of(fd(), now);
    return silence_.check(liveness.is_reply_due, liveness.last_heard, now);
}

void tcp_link::put(wire::header head, std::span<const std::byte> body) noexcept {
    put(head, {}, body);
}

void tcp_link::put(wire::header head, std::span<const std::byte> start,
                   std::span<const std::byte> body) noexcept {
    std::array<std::byte, wire::header::size + wire::failure::max_bytes> bytes;
    static_assert(sizeof bytes <= longest_head);
    assert(start.size() <= wire::failure::max_bytes);
    head.content = start.size() + body.size();
    wire::pack(head, std::span(bytes).first<wire::header::size>());
    std::copy(start.begin(), start.end(), bytes.begin() + wire::header::size);
    record_stream::put(std::span(bytes).first(wire::header::size + start.size()), body);
}

void tcp_link::put(wire::header head, const wire::failure& failure) noexcept {
    std::array<std::byte, wire::failure::max_bytes> content;
    head.kind = wire::frame_kind::failure;
    put(head, std::span(content).first(wire::pack(failure, content)), {});
}

ucs_status_t tcp_link::read_failure(wire::failure& into, rank_t ranks) {
    // wire::parse() has checked the length.
    const auto bytes = std::span(in_failure_).first(static_cast<std::size_t>(header().content));
    const ucs_status_t status = read_body(bytes);
    if (status != UCS_OK) return status;
    auto parsed = wire::parse_failure(bytes, ranks);
    if (!parsed) return UCS_ERR_INVALID_PARAM;
    into = std::move(*parsed);
    return UCS_OK;
}

}  // namespace ucg::oob
