#include "ucp/wireup/state.hpp"

#include <array>
#include <cstddef>

namespace ucp::wireup {

namespace {

constexpr std::size_t state_count = 8;
constexpr std::size_t event_count = 7;

using S = state;
using A = action;

// Rows: state. Columns: use, request, reply, peer_close, local_close, failure,
// peer_failure.
constexpr std::array<std::array<transition, event_count>, state_count> table{{
    // idle
    {{{S::requested, A::send_request},
      {S::ready, A::become_ready_and_reply},
      {S::idle, A::unexpected},
      {S::idle, A::unexpected},
      {S::closed, A::none},
      {S::failed, A::fail},
      {S::idle, A::unexpected}}},
    // requested
    {{{S::requested, A::none},
      {S::ready, A::become_ready_and_reply},
      {S::ready, A::become_ready},
      {S::requested, A::unexpected},
      {S::abandoned, A::none},
      {S::failed, A::fail},
      {S::failed, A::fail}}},
    // ready
    {{{S::ready, A::none},
      {S::ready, A::reply},
      {S::ready, A::none},
      {S::peer_closed, A::notify_user},
      {S::closing, A::send_close},
      {S::failed, A::fail_and_tell},
      {S::failed, A::fail}}},
    // peer_closed
    {{{S::peer_closed, A::none},
      {S::peer_closed, A::unexpected},
      {S::peer_closed, A::none},
      {S::peer_closed, A::unexpected},
      {S::closed, A::send_close},
      {S::failed, A::fail_and_tell},
      {S::failed, A::fail}}},
    // abandoned
    {{{S::abandoned, A::none},
      {S::closing, A::reply_and_close},
      {S::closing, A::send_close},
      {S::closed, A::none},
      {S::abandoned, A::none},
      {S::closed, A::none},
      {S::closed, A::none}}},
    // closing
    {{{S::closing, A::none},
      {S::closing, A::none},
      {S::closing, A::none},
      {S::closed, A::none},
      {S::closing, A::none},
      {S::closed, A::notify_failure},
      {S::closed, A::none}}},
    // failed
    {{{S::failed, A::none},
      {S::failed, A::none},
      {S::failed, A::none},
      {S::failed, A::none},
      {S::closed, A::none},
      {S::failed, A::none},
      {S::failed, A::none}}},
    // closed
    {{{S::closed, A::none},
      {S::closed, A::none},
      {S::closed, A::none},
      {S::closed, A::none},
      {S::closed, A::none},
      {S::closed, A::none},
      {S::closed, A::none}}},
}};

}  // namespace

transition step(state from, event input) noexcept {
    return table[static_cast<std::size_t>(from)][static_cast<std::size_t>(input)];
}

const char* name(state value) noexcept {
    static constexpr std::array<const char*, state_count> names{
        "idle", "requested", "ready", "peer_closed", "abandoned", "closing", "failed", "closed"};
    return names[static_cast<std::size_t>(value)];
}

const char* name(event value) noexcept {
    static constexpr std::array<const char*, event_count> names{
        "use", "request", "reply", "peer_close", "local_close", "failure", "peer_failure"};
    return names[static_cast<std::size_t>(value)];
}

}  // namespace ucp::wireup
