#include "uct/sim/fabric.hpp"

#include <cassert>
#include <cstring>
#include <limits>

namespace uct::sim {

namespace {

// Virtual time does not start at 0, because code may use 0 for "never".
constexpr ucs::time::nanoseconds start_of_time = 1'000'000'000;

// Connection time of an endpoint without a partner.
constexpr ucs::time::nanoseconds never = std::numeric_limits<ucs::time::nanoseconds>::max();

// Salts addresses, so that an address of another fabric is not valid on this one.
std::uint32_t mix(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(ucs::sys::mix(value) >> 32U);
}

}  // namespace

fabric::fabric(std::uint64_t seed, const parameters& network)
    : seed_(seed), network_(network), dice_(seed), now_(start_of_time), outer_(current_) {
    current_ = this;
    ucs::time::set_clock(virtual_now);
}

fabric::~fabric() {
    assert(current_ == this);
    current_ = outer_;
    ucs::time::set_clock(outer_ != nullptr ? virtual_now : nullptr);
}

ucs::time::nanoseconds fabric::virtual_now() noexcept {
    return current_->now_;
}

bool fabric::step() {
    if (events_.empty()) return false;
    event next = events_.pop();
    now_ = std::max(now_.load(), next.when);
    happen(next);
    return true;
}

void fabric::advance(ucs::time::nanoseconds duration) {
    const ucs::time::nanoseconds until = now_ + duration;
    while (!events_.empty() && events_.first().when <= until)
        step();
    now_ = until;
}

std::optional<node_id> fabric::find_node(std::uint64_t worker_uid, std::size_t nth) const noexcept {
    for (const auto& candidate : nodes_) {
        if (candidate->worker_uid == worker_uid && nth-- == 0) return candidate->id;
    }
    return std::nullopt;
}

node& fabric::join(std::uint64_t worker_uid, bool paired) {
    const auto id = static_cast<node_id>(nodes_.size());
    nodes_.push_back(std::make_unique<node>(id, worker_uid, paired));
    record(event_kind::opened, *nodes_.back());
    return *nodes_.back();
}

std::uint32_t fabric::checksum(const node& n) const noexcept {
    return mix((seed_ << 20U) ^ n.id ^ (n.paired ? 0x726373U : 0x73696dU));
}

ucs::result<node_id> fabric::parse_address(const node& reader,
                                           std::span<const std::byte> address) const {
    std::array<std::uint32_t, 2> words{};
    if (address.size() != sizeof words) return UCS_ERR_INVALID_ADDR;
    std::memcpy(words.data(), address.data(), sizeof words);
    if (words[0] >= nodes_.size()) return UCS_ERR_INVALID_ADDR;
    const node& found = *nodes_[words[0]];
    if (words[1] != checksum(found) || found.paired != reader.paired) return UCS_ERR_INVALID_ADDR;
    return found.id;
}

link_ptr fabric::connect(node& from, node_id to, sim_ep& owner) {
    auto fresh = std::make_shared<link>(next_link_++, from, to, &owner);
    from.out.emplace(fresh->number, fresh);
    nodes_[to]->in.emplace(fresh->number, fresh);
    if (from.paired) pairs_.emplace(fresh->number, fresh);
    if (from.paired || is_cut(from, to)) {
        fresh->connected_at = never;
        if (is_cut(from, to))
            schedule({.when = now_ + network_.detection_time,
                      .kind = action::fail,
                      .conn = fresh,
                      .status = UCS_ERR_ENDPOINT_TIMEOUT});
        return fresh;
    }
    fresh->connected_at = now_ + dice_.between(0, network_.max_connect_time);
    if (!nodes_[to]->alive) {
        schedule({.when = now_ + network_.detection_time,
                  .kind = action::fail,
                  .conn = fresh,
                  .status = UCS_ERR_CONNECTION_RESET});
    } else if (fresh->connected_at > now_) {
        schedule({.when = fresh->connected_at, .kind = action::connect, .conn = fresh});
    }
    return fresh;
}

void fabric::disconnect(link& conn) {
    record(event_kind::ep_destroyed, conn);
    conn.owner = nullptr;
    nodes_[conn.from]->out.erase(conn.number);
    nodes_[conn.to]->in.erase(conn.number);
    // The messages were accepted, so they still arrive. Their bytes are copied now, because the
    // caller may reuse its memory.
    for (const operation_ptr& message : conn.wire)
        message->gather();
    if (conn.paired) part(conn);
}

bool fabric::rma_refused(node_id from, node_id to) {
    const pair both{from, to};
    if (network_.rma_refused > 0 && rma_decided_.insert(both).second &&
        dice_.chance(network_.rma_refused)) {
        refused_.insert(both);
    }
    return refused_.contains(both);
}

ucs_status_t fabric::admit(const link_ptr& conn) {
    if (conn->failure != UCS_OK) return conn->failure;
    if (!nodes_[conn->from]->alive) return UCS_ERR_CONNECTION_RESET;
    const bool refused = dice_.chance(network_.refusal);
    const bool busy = now_ < conn->connected_at || conn->window_use() >= network_.tx_window;
    if (busy || refused) {
        record(event_kind::refused, *conn);
        // There may be no other event that makes the sender retry, so one is added. While the
        // endpoint is busy, another event follows anyway: a sender that retries often would fill
        // the queue with such events.
        if (!busy) schedule({.when = now_ + 1, .kind = action::wake, .conn = conn});
        return UCS_ERR_NO_RESOURCE;
    }
    if (!must_fail(*conn)) return UCS_OK;
    if (dice_.chance(0.5)) {
        schedule({.when = now_ + travel_time(*conn, 0),
                  .kind = action::fail,
                  .conn = conn,
                  .status = UCS_ERR_ENDPOINT_TIMEOUT});
        return UCS_OK;
    }
    fail(conn, UCS_ERR_ENDPOINT_TIMEOUT);
    return conn->failure;
}

void fabric::post(const link_ptr& conn, operation_ptr op) {
    op->serial = conn->next_serial++;
    record(event_kind::posted, *conn, op->length);
    conn->outstanding.push_back(op);
    if (op->kind == op_kind::flush) return;
    if (op->kind == op_kind::message || op->kind == op_kind::probe) {
        send_on_wire(conn, std::move(op));
        return;
    }
    const ucs::time::nanoseconds arrival = now_ + travel_time(*conn, op->length);
    // Later messages do not overtake a put, see uct/api/ep.hpp.
    if (op->kind == op_kind::put) conn->last_arrival = std::max(conn->last_arrival, arrival);
    schedule({.when = arrival, .kind = action::access, .conn = conn, .op = std::move(op)});
}

void fabric::post_both(const link_ptr& conn, operation_ptr write, operation_ptr message) {
    write->serial = conn->next_serial++;
    record(event_kind::posted, *conn, write->length);
    conn->outstanding.push_back(write);
    message->first = std::move(write);
    post(conn, std::move(message));
}

void fabric::send_on_wire(const link_ptr& conn, operation_ptr op) {
    const ucs::time::nanoseconds arrival = now_ + travel_time(*conn, op->length);
    conn->wire.push_back(std::move(op));
    conn->last_arrival = std::max(conn->last_arrival + 1, arrival);
    schedule({.when = conn->last_arrival, .kind = action::arrive, .conn = conn});
}

void fabric::consumed_message(node& receiver) {
    --receiver.queued_messages;
    // A link whose messages were lost meanwhile takes no slot, so the next link may use it.
    while (!receiver.held_back.empty() && receiver.queued_messages < network_.rx_queue) {
        const link_ptr next = receiver.held_back.front();
        receiver.held_back.pop_front();
        arrive(next);
    }
}

ucs::time::nanoseconds fabric::travel_time(const link& conn, std::size_t bytes) {
    const paired_parameters& pairs = network_.paired;
    ucs::time::nanoseconds time = conn.paired
                                      ? dice_.between(pairs.min_latency, pairs.max_latency)
                                      : dice_.between(network_.min_latency, network_.max_latency);
    if (dice_.chance(network_.delay_probability)) time += dice_.between(0, network_.max_delay);
    const double bandwidth = conn.paired ? pairs.bandwidth : network_.bandwidth;
    return time + static_cast<ucs::time::nanoseconds>(static_cast<double>(bytes) * 1e9 / bandwidth);
}

void fabric::record(event_kind kind, const link& conn, std::uint64_t detail) noexcept {
    history_.add({now_, kind, conn.from, conn.to, conn.number, detail});
}

void fabric::record(event_kind kind, const node& n, std::uint64_t detail) noexcept {
    history_.add({now_, kind, n.id, n.id, 0, detail});
}

}  // namespace uct::sim
