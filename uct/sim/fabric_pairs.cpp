// Links of endpoints that come in pairs: how two find each other, lose each other and part.
#include <algorithm>
#include <array>
#include <cstring>

#include "uct/sim/fabric.hpp"

namespace uct::sim {

// Connection data is the number of the link and this.
std::uint64_t fabric::check_word(const link& of) const noexcept {
    return random((seed_ << 20U) ^ of.number ^ 0x70616972U).next();
}

void fabric::pack_connection(const link& of, std::span<std::byte> into) const {
    const std::array<std::uint64_t, 2> words{of.number, check_word(of)};
    static_assert(sizeof words == connection_length);
    std::memcpy(into.data(), words.data(), sizeof words);
}

ucs_status_t fabric::bind(const link_ptr& which, std::span<const std::byte> theirs) {
    std::array<std::uint64_t, 2> words{};
    if (theirs.size() != sizeof words) return UCS_ERR_INVALID_ADDR;
    std::memcpy(words.data(), theirs.data(), sizeof words);
    const link named(words[0], *nodes_[which->to], which->from, nullptr);
    if (words[1] != check_word(named)) return UCS_ERR_INVALID_ADDR;
    if (which->bound()) return which->failure;  // again
    which->partner = words[0];
    which->connected_at = now_ + dice_.between(0, network_.max_connect_time);
    if (!nodes_[which->to]->alive) {
        schedule({.when = now_ + network_.detection_time,
                  .what = action::fail,
                  .on = which,
                  .status = UCS_ERR_ENDPOINT_TIMEOUT});
    } else {
        schedule({.when = which->connected_at, .what = action::connect, .on = which});
    }
    return UCS_OK;
}

bool fabric::path_is_dead(node_id one, node_id other) {
    const pair both = std::minmax(one, other);
    const auto known = dead_paths_.find(both);
    if (known != dead_paths_.end()) return known->second;
    if (one == other) return false;  // inside the device
    return dead_paths_[both] = dice_.chance(network_.paired.dead_path);
}

// The link of the other endpoint, when that takes what comes from this one.
link_ptr fabric::listening_partner(const link& of) {
    if (path_is_dead(of.from, of.to)) return nullptr;
    const auto found = pairs_.find(*of.partner);
    if (found == pairs_.end()) return nullptr;
    const link& other = *found->second;
    const bool mutual = other.partner == of.number && other.from == of.to && other.to == of.from;
    return mutual && other.failure == UCS_OK ? found->second : nullptr;
}

// Whether what arrives now is taken, and if not, whether it is worth to be repeated.
fabric::reception fabric::reach_partner(const link_ptr& on) {
    if (listening_partner(*on) != nullptr) {
        on->unheard_since = 0;
        return reception::taken;
    }
    if (on->failure != UCS_OK || nodes_[on->from]->killed) {
        if (on->owner == nullptr) pairs_.erase(on->number);
        return reception::never;
    }
    if (on->unheard_since == 0) on->unheard_since = now_;
    const paired_parameters& limits = network_.paired;
    if (now_ - on->unheard_since < limits.retransmissions * limits.retransmission_time) {
        return reception::later;
    }
    on->wire.clear();
    if (on->owner == nullptr) {
        pairs_.erase(on->number);
    } else {
        // The other side finds out when it sends something itself.
        fail_alone(on, UCS_ERR_ENDPOINT_TIMEOUT);
    }
    return reception::never;
}

void fabric::repeat(event&& what) {
    record(event_kind::repeated, *what.on);
    what.when = now_ + network_.paired.retransmission_time;
    schedule(std::move(what));
}

bool fabric::arrives_at_partner(const link_ptr& on) {
    const reception how = reach_partner(on);
    if (how == reception::later) repeat({.what = action::arrive, .on = on});
    if (how == reception::never && !on->wire.empty()) {
        record(event_kind::dropped, *on, on->wire.front()->serial);
        on->wire.pop_front();
    }
    return how == reception::taken;
}

// False: the target allows no such thing, or does not answer now. Both connections fail with the
// first.
bool fabric::serve(const link_ptr& on, const operation_ptr& which) {
    const reception how = reach_partner(on);
    if (how == reception::later) repeat({.what = action::access, .on = on, .which = which});
    if (how != reception::taken) return false;
    const regions* const memory = nodes_[on->to]->memory.get();
    const peer_rights wanted{which->kind != op_kind::put, which->kind != op_kind::get};
    if (which->length == 0 ||
        memory->allows(which->key, which->remote_address, which->length, wanted)) {
        which->serve();
        return true;
    }
    schedule({.when = now_ + travel_time(*on, 0),
              .what = action::fail,
              .on = listening_partner(*on),
              .status = UCS_ERR_REJECTED});
    fail_alone(on, UCS_ERR_INVALID_ADDR);
    return false;
}

void fabric::look(const link_ptr& on) {
    if (on->failure != UCS_OK || now_ < on->connected_at || on->window_use() > 0) return;
    auto question = std::make_shared<operation>();
    question->kind = op_kind::nothing;
    post(on, std::move(question));
}

// Its endpoint goes. What it sent still arrives, and then its goodbye; until then it takes, for
// nobody, what is sent to it.
void fabric::part(link& which) {
    const auto known = pairs_.find(which.number);
    if (which.failure != UCS_OK || !which.bound() || !nodes_[which.from]->alive ||
        !nodes_[which.to]->alive) {
        pairs_.erase(known);
        return;
    }
    auto last = std::make_shared<operation>();
    last->kind = op_kind::goodbye;
    last->serial = which.next_serial++;
    send_on_wire(known->second, std::move(last));
}

void fabric::arrived_goodbye(const link& of) {
    record(event_kind::said_goodbye, of);
    const link_ptr partner = listening_partner(of);
    pairs_.erase(of.number);
    if (partner != nullptr) fail_alone(partner, UCS_ERR_NOT_CONNECTED);
}

}  // namespace uct::sim
