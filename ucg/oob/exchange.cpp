#include "ucg/oob/exchange.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ucg/oob/log.hpp"
#include "ucg/oob/own_blocks.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::oob {
namespace {

constexpr double default_timeout = 300;

class single final : public exchange {
public:
    single() noexcept : exchange(rank_params{}) {}

private:
    ucs_status_t start() override { return UCS_OK; }
    ucs_status_t advance() override { return UCS_OK; }
    void finish(ucs_status_t) noexcept override {}
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override {
        own_.put(number, block);
        return UCS_OK;
    }
    ucs_status_t find(std::uint64_t number, rank_t, std::span<std::byte> into,
                      std::size_t& bytes) override {
        return copy_block(own_.find(number), into, bytes);
    }
    ucs_status_t drop(std::uint64_t number) override {
        own_.drop(number);
        return UCS_OK;
    }

    own_blocks own_;
};

}  // namespace

ucs::time::nanoseconds timeout_of(double seconds) noexcept {
    return ucs::time::from_seconds(seconds == 0 ? default_timeout : seconds);
}

ucs_status_t rank_params::check(const char* call, double seconds) noexcept {
    if (size == 0 || rank >= size) {
        ucs::log::error(oob_log, "{}: there is no rank {} among {}", call, rank, size);
        return UCS_ERR_INVALID_PARAM;
    }
    if (std::isnan(seconds) || seconds < 0) {
        ucs::log::error(oob_log, "{}: timeout {} is no number of seconds from 0", call, seconds);
        return UCS_ERR_INVALID_PARAM;
    }
    timeout = timeout_of(seconds);
    return UCS_OK;
}

std::unique_ptr<exchange> make_single() {
    return std::make_unique<single>();
}

template<class Body>
ucs_status_t exchange::guarded(const Body& body) noexcept {
    return ucs::boundary(body, [this](const ucs::failure& caught) {
        ucs::log::error(oob_log, "round {}: {}", current_.number, caught.text);
        return caught.status;
    });
}

void exchange::take_ownership() noexcept {
    owner_ = ::getpid();
}

bool exchange::is_copy() const noexcept {
    return owner_ != 0 && owner_ != ::getpid();
}

ucs_status_t exchange::refuse_copy() const noexcept {
    ucs::log::error(
        oob_log, "process {} uses this object: a child that it forks makes one of its own", owner_);
    return UCS_ERR_INVALID_PARAM;
}

ucs_status_t exchange::begin(const void* send, void* recv, std::size_t bytes) noexcept {
    if (is_copy()) return refuse_copy();
    if (failure_ != UCS_OK) return failure_;
    if (state_ != state::idle) return UCS_ERR_BUSY;
    if (bytes > std::numeric_limits<std::size_t>::max() / 2 / size() ||
        (bytes != 0 && (send == nullptr || recv == nullptr))) {
        ucs::log::error(oob_log, "{} blocks of {} bytes from {} to {} cannot be", size(), bytes,
                        send, recv);
        return UCS_ERR_INVALID_PARAM;
    }
    if (owner_ == 0) take_ownership();
    current_ = {next_round_++, bytes, static_cast<std::byte*>(recv), deadline()};
    if (bytes != 0) std::memmove(block(rank()).data(), send, bytes);
    const ucs_status_t status = guarded([this] { return start(); });
    if (status != UCS_OK) {
        end(status);
        state_ = state::idle;  // the round did not begin, so there is nothing to release
        return status;
    }
    state_ = state::under_way;
    if (size() == 1) end(UCS_OK);
    return UCS_OK;
}

ucs_status_t exchange::test() noexcept {
    if (state_ == state::under_way) {
        if (is_copy()) return refuse_copy();
        const ucs_status_t status = guarded([this] { return advance(); });
        if (status == UCS_INPROGRESS) return status;
        end(status);
    }
    return failure_;
}

void exchange::release() noexcept {
    if (state_ == state::under_way) end(UCS_ERR_CANCELED);
    state_ = state::idle;
}

void exchange::end(ucs_status_t status) noexcept {
    if (!is_copy()) finish(status);
    failure_ = status;
    if (status == UCS_OK) rounds_over_ = current_.number + 1;
    state_ = state::ended;
    current_.into = nullptr;
}

ucs::time::nanoseconds exchange::deadline() const noexcept {
    constexpr auto never = std::numeric_limits<ucs::time::nanoseconds>::max();
    const auto time = ucs::time::now();
    return self_.timeout < never - time ? time + self_.timeout : never;
}

// --- publications and look-ups ---

ucs_status_t exchange::publish(const void* block, std::size_t bytes,
                               std::uint64_t& number) noexcept {
    if (is_copy()) return refuse_copy();
    if (failure_ != UCS_OK) return failure_;
    if (block == nullptr || bytes == 0) {
        ucs::log::error(oob_log, "rank {} cannot publish {} bytes at {}", rank(), bytes, block);
        return UCS_ERR_INVALID_PARAM;
    }
    if (owner_ == 0) take_ownership();
    number = next_number_++;
    if (bytes > wire::max_published) return UCS_ERR_EXCEEDS_LIMIT;
    return guarded([&] {
        published_.reserve(published_.size() + 1);
        const ucs_status_t status = put(number, {static_cast<const std::byte*>(block), bytes});
        if (status == UCS_OK) published_.push_back({number, next_round_});
        return status;
    });
}

ucs_status_t exchange::look_up(std::uint64_t number, rank_t publisher, void* block,
                               std::size_t& bytes) noexcept {
    if (is_copy()) return refuse_copy();
    const auto known = std::ranges::find(published_, number, &publication::number);
    if (publisher >= size() || known == published_.end() || rounds_over_ <= known->next_round) {
        ucs::log::error(oob_log, "rank {} looks up number {} of rank {} of {}: {}", rank(), number,
                        publisher, size(),
                        publisher >= size()         ? "there is no such rank"
                        : known == published_.end() ? "it has published nothing under that number"
                                                    : "no round has followed");
        return UCS_ERR_INVALID_PARAM;
    }
    return guarded([&] {
        const ucs_status_t status =
            find(number, publisher, {static_cast<std::byte*>(block), bytes}, bytes);
        if (status == UCS_INPROGRESS) return check_lookup_deadline(number, publisher);
        std::erase_if(pending_lookups_, [&](const pending_lookup& each) {
            return each.number == number && each.publisher == publisher;
        });
        return status;
    });
}

// Handles a look-up without a reply: starts its deadline at the first call, and fails when that has
// passed.
ucs_status_t exchange::check_lookup_deadline(std::uint64_t number, rank_t publisher) {
    const auto known = std::ranges::find_if(pending_lookups_, [&](const pending_lookup& each) {
        return each.number == number && each.publisher == publisher;
    });
    if (known == pending_lookups_.end()) {
        pending_lookups_.push_back({number, publisher, deadline()});
        return UCS_INPROGRESS;
    }
    if (ucs::time::now() < known->deadline) return UCS_INPROGRESS;
    pending_lookups_.erase(known);
    ucs::log::error(oob_log, "rank {} got no reply within {} s to the look-up of rank {}", rank(),
                    timeout_seconds(), publisher);
    return UCS_ERR_TIMED_OUT;
}

ucs_status_t exchange::withdraw(std::uint64_t number) noexcept {
    if (is_copy()) return UCS_OK;
    const auto known = std::ranges::find(published_, number, &publication::number);
    if (known == published_.end()) return UCS_ERR_INVALID_PARAM;
    std::erase_if(pending_lookups_,
                  [&](const pending_lookup& each) { return each.number == number; });
    const ucs_status_t status = guarded([&] { return drop(number); });
    if (status != UCS_INPROGRESS) published_.erase(known);
    return status;
}

void exchange::serve() noexcept {
    if (owner_ == 0 || is_copy()) return;
    static_cast<void>(guarded([this] {
        serve_requests();
        return UCS_OK;
    }));
}

ucs_status_t exchange::copy_block(std::span<const std::byte> block, std::span<std::byte> into,
                                  std::size_t& bytes) noexcept {
    bytes = block.size();
    if (block.size() > into.size()) return UCS_ERR_BUFFER_TOO_SMALL;
    if (!block.empty()) std::memcpy(into.data(), block.data(), block.size());
    return UCS_OK;
}

ucs_status_t exchange::log_size_mismatch(rank_t peer, std::uint64_t peer_bytes) const {
    ucs::log::error(oob_log, "round {}: rank {} gives {} bytes and rank {} {}: they must agree",
                    current_.number, peer, peer_bytes, rank(), current_.bytes);
    return UCS_ERR_INVALID_PARAM;
}

ucs_status_t exchange::log_reported_failure(const char* reporter,
                                            const wire::failure& failure) const {
    ucs::log::error(
        oob_log, "round {}: {} says that {} failed it: {}", current_.number, reporter,
        failure.count == 0 ? "something"
                           : rank_list(failure.first, failure.count - failure.first.size()),
        failure.status == UCS_ERR_TIMED_OUT          ? "not there in time"
        : failure.status == UCS_ERR_CONNECTION_RESET ? "died or left"
                                                     : ucs_status_string(failure.status));
    return failure.status;
}

ucs_status_t exchange::log_timeout(std::span<const rank_t> peers, std::span<const rank_t> absent,
                                   const char* action, std::string_view place) const {
    const bool all = !peers.empty() && absent.size() == peers.size();
    const bool some = !absent.empty() && !all;
    ucs::log::error(oob_log, "round {}: {} did not {} within {} s{}{}{}{}", current_.number,
                    peers.empty() ? "some rank" : rank_list(peers), all ? "come" : action,
                    timeout_seconds(), place.empty() ? "" : " in ", place,
                    some ? "; never here: " : "", some ? rank_list(absent) : "");
    return UCS_ERR_TIMED_OUT;
}

}  // namespace ucg::oob
