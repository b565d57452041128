#include "ucp/wireup/pairing_state.hpp"

#include <array>
#include <cstddef>
#include <initializer_list>

namespace ucp::wireup {

namespace {

using S = pairing_state;
using E = pairing_event;
using A = pairing_action;

constexpr std::size_t state_count = 6;
constexpr std::size_t event_count = 27;

using transitions = std::array<std::array<pairing_transition, event_count>, state_count>;

constexpr auto all = {S::none, S::requested, S::replied, S::joined, S::postponed, S::refusing};
constexpr auto paired = {S::requested, S::replied, S::joined, S::postponed};

constexpr pairing_transition& at(transitions& table, S from, E input) {
    return table[static_cast<std::size_t>(from)][static_cast<std::size_t>(input)];
}

constexpr void on(transitions& table, E input, std::initializer_list<S> from, S next, A todo) {
    for (const S each : from)
        at(table, each, input) = {next, todo};
}

// The same action in each of the states, which stay as they are.
constexpr void stay(transitions& table, E input, std::initializer_list<S> from, A todo) {
    for (const S each : from)
        at(table, each, input) = {each, todo};
}

// An event that is not listed for a state changes nothing there.
constexpr transitions make_table() {
    transitions t{};
    for (std::size_t i = 0; i < event_count; ++i)
        stay(t, static_cast<E>(i), all, A::none);

    on(t, E::begin, {S::none}, S::requested, A::send_request);
    for (const E each : {E::request, E::request_loses, E::request_in_use}) {
        stay(t, each, {S::none, S::replied, S::refusing}, A::accept);
        // Joined lanes are not given up for a request, which may be older than they are.
        on(t, each, {S::joined, S::postponed}, S::postponed, A::postpone);
    }
    stay(t, E::request, {S::requested}, A::accept_and_revoke);
    stay(t, E::request_in_use, {S::none}, A::refuse);
    stay(t, E::request_repeated, {S::replied}, A::send_reply);
    on(t, E::accepting, {S::none}, S::replied, A::none);
    on(t, E::accept_failed, {S::replied}, S::none, A::reconnect_unpaired);

    on(t, E::declined, paired, S::none, A::reconnect_unpaired);
    stay(t, E::declined_established, paired, A::check_lane);
    for (const E each : {E::unpaired, E::not_here}) {
        on(t, each, {S::replied}, S::none, A::reconnect);  // the requester has given up
        stay(t, each, {S::joined}, A::lose_lanes);
        on(t, each, {S::postponed}, S::joined, A::leave);
    }
    on(t, E::unpaired, {S::requested}, S::none, A::try_other_lane);
    stay(t, E::not_here, {S::requested}, A::fail_unreachable);
    // The peer may have dropped what we sent until now, so we repeat what we wait for.
    stay(t, E::other_attempt_over, {S::none}, A::repeat_endpoint_requests);
    stay(t, E::other_attempt_over, {S::requested}, A::send_request);
    on(t, E::postponed_over, {S::postponed}, S::joined, A::none);

    stay(t, E::reply, {S::requested}, A::connect_lanes);
    stay(t, E::foreign_reply, all, A::refuse);  // or the peer would wait for ever
    on(t, E::lanes_connected, {S::requested}, S::joined, A::confirm);
    on(t, E::lanes_failed, {S::requested}, S::none, A::try_other_lane);
    on(t, E::joined, {S::replied}, S::joined, A::join);

    // Elsewhere the message is dropped, and the pairing need not remember that: the peer sees by
    // itself that these lanes lead nowhere.
    stay(t, E::over_pair, {S::joined, S::postponed}, A::deliver);
    // The peer may have closed its lanes without being able to notify us. If we wait for `joined`,
    // we repeat our reply; the peer refuses it if it does not wait for it. If the lanes are joined,
    // checking them tells.
    stay(t, E::over_others, {S::none, S::refusing}, A::deliver);
    stay(t, E::over_others, {S::requested}, A::drop);
    stay(t, E::over_others, {S::replied}, A::drop_and_reply);
    stay(t, E::over_others, {S::joined, S::postponed}, A::drop_and_check);

    stay(t, E::repeat, {S::requested}, A::send_request);
    stay(t, E::probe, {S::none, S::joined, S::postponed}, A::check_lane);
    stay(t, E::probe, {S::requested, S::replied, S::refusing}, A::check_bootstrap);
    stay(t, E::peer_left, paired, A::leave);
    on(t, E::peer_left, {S::postponed}, S::joined, A::leave);
    // Joined lanes tell the peer by themselves that they are closed.
    stay(t, E::give_up, {S::requested, S::joined, S::refusing}, A::give_up);
    stay(t, E::give_up, {S::replied}, A::notify_and_give_up);
    on(t, E::give_up, {S::postponed}, S::joined, A::give_up);
    // If a request is postponed, replying to it notifies the peer as well.
    on(t, E::destroy, {S::requested, S::replied}, S::refusing, A::notify);
    on(t, E::destroy, {S::joined}, S::refusing, A::notify_joined);
    on(t, E::refuse_without_lane, {S::none}, S::refusing, A::none);
    on(t, E::close, all, S::none, A::none);
    return t;
}

constexpr transitions table = make_table();

}  // namespace

pairing_transition step(pairing_state from, pairing_event input) noexcept {
    return table[static_cast<std::size_t>(from)][static_cast<std::size_t>(input)];
}

const char* name(pairing_state value) noexcept {
    static constexpr std::array<const char*, state_count> names{"none",   "requested", "replied",
                                                                "joined", "postponed", "refusing"};
    return names[static_cast<std::size_t>(value)];
}

}  // namespace ucp::wireup
