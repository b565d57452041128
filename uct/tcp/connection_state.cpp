#include "uct/tcp/connection_state.hpp"

#include <array>

namespace uct::tcp {

namespace {

struct transition {
    state from;
    event trigger;
    state to;
};

constexpr transition table[] = {
    {state::idle, event::wanted, state::connecting},
    {state::idle, event::accepted, state::established},
    {state::idle, event::broken, state::failed},
    {state::connecting, event::connected, state::greeting},
    {state::connecting, event::accepted, state::established},
    {state::connecting, event::gave_way, state::backing_off},
    {state::connecting, event::broken, state::failed},
    {state::greeting, event::welcomed, state::established},
    {state::greeting, event::accepted, state::established},
    {state::greeting, event::gave_way, state::backing_off},
    {state::greeting, event::broken, state::failed},
    {state::backing_off, event::retry, state::connecting},
    {state::backing_off, event::accepted, state::established},
    {state::backing_off, event::broken, state::failed},
    {state::established, event::propose_close, state::parting},
    {state::established, event::parted, state::idle},
    {state::established, event::broken, state::failed},
    {state::parting, event::close_denied, state::established},
    {state::parting, event::parted, state::idle},
    {state::parting, event::broken, state::failed},
    {state::established, event::send_failed, state::draining},
    {state::parting, event::send_failed, state::draining},
    {state::draining, event::broken, state::failed},
};

constexpr std::array state_names{"idle",        "connecting", "greeting", "backing off",
                                 "established", "parting",    "draining", "failed"};
constexpr std::array event_names{"wanted",   "connected",   "welcomed",    "accepted",
                                 "gave way", "retry",       "ask to part", "part denied",
                                 "parted",   "send failed", "broken"};

}  // namespace

std::optional<state> next_state(state from, event trigger) noexcept {
    for (const transition& row : table) {
        if (row.from == from && row.trigger == trigger) return row.to;
    }
    return std::nullopt;
}

const char* name_of(state value) noexcept {
    return state_names[static_cast<std::size_t>(value)];
}

const char* name_of(event value) noexcept {
    return event_names[static_cast<std::size_t>(value)];
}

}  // namespace uct::tcp
