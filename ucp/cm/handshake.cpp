#include "ucp/cm/handshake.hpp"

#include <array>
#include <cstddef>

namespace ucp::cm {

namespace {

constexpr std::size_t phase_count = 8;
constexpr std::size_t event_count = 12;

using P = phase;
using A = action;

// Rows: phase. Columns: connected, agreed, request, refusal, established, malformed, end, deadline,
// accept, reject, ready, cancel.
constexpr std::array<std::array<transition, event_count>, phase_count> table{{
    // connecting
    {{{P::proving, A::open},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::connecting, A::none},
      {P::connecting, A::none},
      {P::over, A::drop},
      {P::over, A::drop}}},
    // proving
    {{{P::proving, A::none},
      {P::requested, A::send_request},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::proving, A::none},
      {P::proving, A::none},
      {P::proving, A::none},
      {P::over, A::drop},
      {P::over, A::drop}}},
    // requested
    {{{P::requested, A::none},
      {P::requested, A::none},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::requested, A::none},
      {P::requested, A::none},
      {P::requested, A::none},
      {P::over, A::send_established},
      {P::over, A::drop}}},
    // unproven
    {{{P::unproven, A::none},
      {P::awaiting_request, A::none},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::drop},
      {P::over, A::drop},
      {P::unproven, A::none},
      {P::over, A::drop},
      {P::unproven, A::none},
      {P::over, A::drop}}},
    // awaiting_request
    {{{P::awaiting_request, A::none},
      {P::awaiting_request, A::none},
      {P::offered, A::offer},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::drop},
      {P::over, A::drop},
      {P::awaiting_request, A::none},
      {P::over, A::refuse},
      {P::awaiting_request, A::none},
      {P::over, A::refuse}}},
    // offered
    {{{P::offered, A::none},
      {P::offered, A::none},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::refuse},
      {P::over, A::drop},
      {P::offered, A::none},
      {P::accepted, A::none},
      {P::over, A::refuse},
      {P::offered, A::none},
      {P::over, A::refuse}}},
    // accepted
    {{{P::accepted, A::none},
      {P::accepted, A::none},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::drop},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::over, A::fail},
      {P::accepted, A::none},
      {P::accepted, A::none},
      {P::over, A::drop},
      {P::over, A::drop}}},
    // over
    {{{P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none},
      {P::over, A::none}}},
}};

}  // namespace

transition step(phase from, event input) noexcept {
    return table[static_cast<std::size_t>(from)][static_cast<std::size_t>(input)];
}

const char* name(phase value) noexcept {
    static constexpr std::array<const char*, phase_count> names{
        "connecting",       "proving", "requested", "unproven",
        "awaiting_request", "offered", "accepted",  "over"};
    return names[static_cast<std::size_t>(value)];
}

const char* name(event value) noexcept {
    static constexpr std::array<const char*, event_count> names{
        "connected", "agreed",   "request", "refusal", "established", "malformed",
        "end",       "deadline", "accept",  "reject",  "ready",       "cancel"};
    return names[static_cast<std::size_t>(value)];
}

}  // namespace ucp::cm
