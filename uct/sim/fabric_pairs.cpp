// Links of paired endpoints: how two endpoints connect, lose each other and disconnect.
#include <algorithm>
#include <array>
#include <cstring>

#include "uct/sim/fabric.hpp"

namespace uct::sim {

// Connection data consists of the number of the link and this checksum.
std::uint64_t fabric::checksum(const link& conn) const noexcept {
    return ucs::sys::mix((seed_ << 20U) ^ conn.number ^ 0x70616972U);
}

void fabric::pack_connection(const link& conn, std::span<std::byte> into) const {
    const std::array<std::uint64_t, 2> words{conn.number, checksum(conn)};
    static_assert(sizeof words == connection_length);
    std::memcpy(into.data(), words.data(), sizeof words);
}

ucs_status_t fabric::bind(const link_ptr& conn, std::span<const std::byte> data) {
    std::array<std::uint64_t, 2> words{};
    if (data.size() != sizeof words) return UCS_ERR_INVALID_ADDR;
    std::memcpy(words.data(), data.data(), sizeof words);
    const link named(words[0], *nodes_[conn->to], conn->from, nullptr);
    if (words[1] != checksum(named)) return UCS_ERR_INVALID_ADDR;
    if (conn->bound()) return conn->failure;  // already connected
    conn->partner = words[0];
    conn->connected_at = now_ + dice_.between(0, network_.max_connect_time);
    if (!nodes_[conn->to]->alive) {
        schedule({.when = now_ + network_.detection_time,
                  .kind = action::fail,
                  .conn = conn,
                  .status = UCS_ERR_ENDPOINT_TIMEOUT});
    } else {
        schedule({.when = conn->connected_at, .kind = action::connect, .conn = conn});
    }
    return UCS_OK;
}

bool fabric::path_is_dead(node_id a, node_id b) {
    const pair both = std::minmax(a, b);
    const auto known = dead_paths_.find(both);
    if (known != dead_paths_.end()) return known->second;
    if (a == b) return false;  // inside the device
    return dead_paths_[both] = dice_.chance(network_.paired.dead_path);
}

// Returns the link of the other endpoint if that accepts messages of this one, otherwise nullptr.
link_ptr fabric::responding_partner(const link& conn) {
    if (path_is_dead(conn.from, conn.to)) return nullptr;
    const auto found = pairs_.find(*conn.partner);
    if (found == pairs_.end()) return nullptr;
    const link& other = *found->second;
    const bool mutual =
        other.partner == conn.number && other.from == conn.to && other.to == conn.from;
    return mutual && other.failure == UCS_OK ? found->second : nullptr;
}

// Decides whether a message or access that arrives now is accepted, and if not, whether it is
// retransmitted.
fabric::reception fabric::try_partner(const link_ptr& conn) {
    if (responding_partner(*conn) != nullptr) {
        conn->unreachable_since = 0;
        return reception::taken;
    }
    if (conn->failure != UCS_OK || nodes_[conn->from]->killed) {
        if (conn->owner == nullptr) pairs_.erase(conn->number);
        return reception::never;
    }
    if (conn->unreachable_since == 0) conn->unreachable_since = now_;
    const paired_parameters& limits = network_.paired;
    if (now_ - conn->unreachable_since < limits.retransmissions * limits.retransmission_time) {
        return reception::later;
    }
    conn->wire.clear();
    if (conn->owner == nullptr) {
        pairs_.erase(conn->number);
    } else {
        // The other side notices when it sends something itself.
        fail_this_side(conn, UCS_ERR_ENDPOINT_TIMEOUT);
    }
    return reception::never;
}

void fabric::retransmit(event&& event_) {
    record(event_kind::retransmitted, *event_.conn);
    event_.when = now_ + network_.paired.retransmission_time;
    schedule(std::move(event_));
}

bool fabric::arrives_at_partner(const link_ptr& conn) {
    const reception result = try_partner(conn);
    if (result == reception::later) retransmit({.kind = action::arrive, .conn = conn});
    if (result == reception::never && !conn->wire.empty()) {
        record(event_kind::dropped, *conn, conn->wire.front()->serial);
        conn->wire.pop_front();
    }
    return result == reception::taken;
}

// Returns false if the target refuses the access or does not respond now. A refusal fails both
// connections.
bool fabric::serve(const link_ptr& conn, const operation_ptr& op) {
    const reception result = try_partner(conn);
    if (result == reception::later) retransmit({.kind = action::access, .conn = conn, .op = op});
    if (result != reception::taken) return false;
    const regions* const memory = nodes_[conn->to]->memory.get();
    const peer_rights wanted{op->kind != op_kind::put, op->kind != op_kind::get};
    if (op->length == 0 || memory->allows(op->key, op->remote_address, op->length, wanted)) {
        op->serve();
        return true;
    }
    schedule({.when = now_ + travel_time(*conn, 0),
              .kind = action::fail,
              .conn = responding_partner(*conn),
              .status = UCS_ERR_REJECTED});
    fail_this_side(conn, UCS_ERR_INVALID_ADDR);
    return false;
}

void fabric::check(const link_ptr& conn) {
    if (conn->failure != UCS_OK || now_ < conn->connected_at || conn->window_use() > 0) return;
    auto probe = std::make_shared<operation>();
    probe->kind = op_kind::probe;
    post(conn, std::move(probe));
}

// The endpoint of a paired link is destroyed. Its messages still arrive, followed by its goodbye.
// Until then the link accepts messages and drops them.
void fabric::part(link& conn) {
    const auto known = pairs_.find(conn.number);
    if (conn.failure != UCS_OK || !conn.bound() || !nodes_[conn.from]->alive ||
        !nodes_[conn.to]->alive) {
        pairs_.erase(known);
        return;
    }
    auto last = std::make_shared<operation>();
    last->kind = op_kind::goodbye;
    last->serial = conn.next_serial++;
    send_on_wire(known->second, std::move(last));
}

void fabric::take_goodbye(const link& conn) {
    record(event_kind::goodbye_arrived, conn);
    const link_ptr partner = responding_partner(conn);
    pairs_.erase(conn.number);
    if (partner != nullptr) fail_this_side(partner, UCS_ERR_NOT_CONNECTED);
}

}  // namespace uct::sim
