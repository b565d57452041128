#include "uct/sim/fabric.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

namespace uct::sim {

namespace {

// Virtual time does not start at 0, which code may take for "never".
constexpr ucs::time::nanoseconds start_of_time = 1'000'000'000;

// When an endpoint takes operations that has no partner.
constexpr ucs::time::nanoseconds never = std::numeric_limits<ucs::time::nanoseconds>::max();

// Some salt, so that an address of another fabric is not taken for one of this.
std::uint32_t mix(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(random(value).next() >> 32U);
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
    while (!events_.empty() && events_.next_time() <= until)
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

std::uint32_t fabric::check_word(const node& of) const noexcept {
    return mix((seed_ << 20U) ^ of.id ^ (of.paired ? 0x726373U : 0x73696dU));
}

ucs::result<node_id> fabric::parse_address(const node& reader,
                                           std::span<const std::byte> address) const {
    std::array<std::uint32_t, 2> words{};
    if (address.size() != sizeof words) return UCS_ERR_INVALID_ADDR;
    std::memcpy(words.data(), address.data(), sizeof words);
    if (words[0] >= nodes_.size()) return UCS_ERR_INVALID_ADDR;
    const node& found = *nodes_[words[0]];
    if (words[1] != check_word(found) || found.paired != reader.paired) return UCS_ERR_INVALID_ADDR;
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
                      .what = action::fail,
                      .on = fresh,
                      .status = UCS_ERR_ENDPOINT_TIMEOUT});
        return fresh;
    }
    fresh->connected_at = now_ + dice_.between(0, network_.max_connect_time);
    if (!nodes_[to]->alive) {
        schedule({.when = now_ + network_.detection_time,
                  .what = action::fail,
                  .on = fresh,
                  .status = UCS_ERR_CONNECTION_RESET});
    } else if (fresh->connected_at > now_) {
        schedule({.when = fresh->connected_at, .what = action::connect, .on = fresh});
    }
    return fresh;
}

void fabric::disconnect(link& which) {
    record(event_kind::ep_destroyed, which);
    which.owner = nullptr;
    nodes_[which.from]->out.erase(which.number);
    nodes_[which.to]->in.erase(which.number);
    // The messages were accepted, so they still arrive, but their memory is the caller's again.
    for (const operation_ptr& message : which.wire)
        message->gather();
    if (which.paired) part(which);
}

bool fabric::rma_refused(node_id from, node_id to) {
    const pair both{from, to};
    if (network_.rma_refused > 0 && rma_decided_.insert(both).second &&
        dice_.chance(network_.rma_refused)) {
        refused_.insert(both);
    }
    return refused_.contains(both);
}

ucs_status_t fabric::admit(const link_ptr& on) {
    if (on->failure != UCS_OK) return on->failure;
    if (!nodes_[on->from]->alive) return UCS_ERR_CONNECTION_RESET;
    const bool refused = dice_.chance(network_.refusal);
    const bool busy = now_ < on->connected_at || on->window_use() >= network_.tx_window;
    if (busy || refused) {
        record(event_kind::refused, *on);
        // Nothing else may be under way that would make the sender try again. Where something is, a
        // sender that tries often would fill the time until then with reasons to try.
        if (!busy) schedule({.when = now_ + 1, .what = action::wake, .on = on});
        return UCS_ERR_NO_RESOURCE;
    }
    if (!must_fail(*on)) return UCS_OK;
    if (dice_.chance(0.5)) {
        schedule({.when = now_ + travel_time(*on, 0),
                  .what = action::fail,
                  .on = on,
                  .status = UCS_ERR_ENDPOINT_TIMEOUT});
        return UCS_OK;
    }
    fail(on, UCS_ERR_ENDPOINT_TIMEOUT);
    return on->failure;
}

void fabric::post(const link_ptr& on, operation_ptr what) {
    what->serial = on->next_serial++;
    record(event_kind::posted, *on, what->length);
    on->outstanding.push_back(what);
    if (what->kind == op_kind::flush) return;
    if (what->kind == op_kind::message || what->kind == op_kind::nothing) {
        send_on_wire(on, std::move(what));
        return;
    }
    const ucs::time::nanoseconds there = now_ + travel_time(*on, what->length);
    schedule({.when = there, .what = action::access, .on = on, .which = std::move(what)});
}

void fabric::post_both(const link_ptr& on, operation_ptr write, operation_ptr message) {
    write->serial = on->next_serial++;
    record(event_kind::posted, *on, write->length);
    on->outstanding.push_back(write);
    message->first = std::move(write);
    post(on, std::move(message));
}

void fabric::send_on_wire(const link_ptr& on, operation_ptr what) {
    const ucs::time::nanoseconds there = now_ + travel_time(*on, what->length);
    on->wire.push_back(std::move(what));
    on->last_arrival = std::max(on->last_arrival + 1, there);
    schedule({.when = on->last_arrival, .what = action::arrive, .on = on});
}

void fabric::consumed_message(node& at) {
    --at.queued_messages;
    // A link whose messages were lost meanwhile takes no room: the next one may have it.
    while (!at.held_back.empty() && at.queued_messages < network_.rx_queue) {
        const link_ptr next = at.held_back.front();
        at.held_back.pop_front();
        arrive(next);
    }
}

ucs::time::nanoseconds fabric::travel_time(const link& on, std::size_t bytes) {
    const paired_parameters& pairs = network_.paired;
    ucs::time::nanoseconds time = on.paired
                                      ? dice_.between(pairs.min_latency, pairs.max_latency)
                                      : dice_.between(network_.min_latency, network_.max_latency);
    if (dice_.chance(network_.delay_probability)) time += dice_.between(0, network_.max_delay);
    const double bandwidth = on.paired ? pairs.bandwidth : network_.bandwidth;
    return time + static_cast<ucs::time::nanoseconds>(static_cast<double>(bytes) * 1e9 / bandwidth);
}

void fabric::record(event_kind kind, const link& on, std::uint64_t detail) noexcept {
    history_.add({now_, kind, on.from, on.to, on.number, detail});
}

void fabric::record(event_kind kind, const node& at, std::uint64_t detail) noexcept {
    history_.add({now_, kind, at.id, at.id, 0, detail});
}

}  // namespace uct::sim
