#include "ucs/net/admission.hpp"

#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>

#include "ucs/type/allocated.hpp"

namespace ucs::net {

namespace {

// The number of silent candidates that are kept while others have sent a first record. So attackers
// that fake first records cannot displace a peer that has just connected.
std::size_t tolerated_silent(std::size_t limit) noexcept {
    return std::max(limit / 8, std::size_t{1});
}

std::uint64_t number_of(std::span<const std::byte> bytes) noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
    return number;
}

// Returns whether the bytes are an IPv4 address in the form that dual-stack sockets report.
bool is_mapped_ipv4(std::span<const std::byte> bytes) noexcept {
    constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

}  // namespace

ucs_status_t admission::add(candidate& fresh, const origin& from,
                            ucs::time::nanoseconds now) noexcept {
    if (!allocated([&] { fresh.share_ = &shares_[from]; })) return UCS_ERR_NO_MEMORY;
    share& of_origin = *fresh.share_;
    fresh.owner_ = this;
    fresh.origin_ = from;
    fresh.is_preferred_ = false;
    fresh.has_turn_ = false;
    end_turns(now);
    fresh.is_waiting_ =
        limits_.most_waiting != 0 && (of_origin.waiting != 0 || !may_begin(of_origin));
    if (!fresh.is_waiting_) {
        begin(fresh, now);
        return UCS_OK;
    }
    ++of_origin.waiting;
    fresh.deadline_ = never;
    waiting_.push_back(fresh);
    return UCS_OK;
}

void admission::begin(candidate& which, ucs::time::nanoseconds now) noexcept {
    const auto after = [now](ucs::time::nanoseconds time) {
        return now > never - time ? never : now + time;
    };
    which.is_waiting_ = false;
    ++which.share_->silent;
    which.deadline_ = after(limits_.time_to_prove);
    which.turn_end_ = after(limits_.turn_length);
    begun_.push_back(which);
}

void admission::remove(candidate& which) noexcept {
    if (!which.is_added()) return;
    which.owner_ = nullptr;
    end_turn(which);
    share& of_origin = *std::exchange(which.share_, nullptr);
    if (std::exchange(which.is_waiting_, false)) {
        waiting_.erase(waiting_.iterator_to(which));
        --of_origin.waiting;
    } else {
        begun_.erase(begun_.iterator_to(which));
        --(which.is_preferred_ ? of_origin.preferred : of_origin.silent);
    }
    if (of_origin.is_empty()) shares_.erase(which.origin_);
}

void admission::set_preferred(candidate& which, bool is_preferred) noexcept {
    if (std::exchange(which.is_preferred_, is_preferred) == is_preferred) return;
    share& of_origin = *which.share_;
    --(is_preferred ? of_origin.silent : of_origin.preferred);
    ++(is_preferred ? of_origin.preferred : of_origin.silent);
}

void admission::prefer(candidate& which) noexcept {
    if (!which.is_added() || which.is_waiting_) return;
    set_preferred(which, true);
    if (limits_.turn_length != 0) start_turn(which, which.turn_end_);
}

void admission::start_turn(candidate& which, ucs::time::nanoseconds end) noexcept {
    if (!which.is_added() || which.is_waiting_) return;
    which.turn_end_ = end;
    next_turn_end_ = std::min(next_turn_end_, end);
    if (std::exchange(which.has_turn_, true)) return;
    ++which.share_->turns;
    ++turns_;
}

void admission::end_turn(candidate& which) noexcept {
    if (!std::exchange(which.has_turn_, false)) return;
    --which.share_->turns;
    --turns_;
}

void admission::end_turns(ucs::time::nanoseconds now) noexcept {
    if (now < next_turn_end_) return;
    next_turn_end_ = never;
    for (candidate& each : begun_) {
        if (!each.has_turn_) continue;
        if (now < each.turn_end_) {
            next_turn_end_ = std::min(next_turn_end_, each.turn_end_);
            continue;
        }
        end_turn(each);
        set_preferred(each, false);
    }
}

void admission::set_deadline(candidate& which, ucs::time::nanoseconds deadline) noexcept {
    which.deadline_ = deadline;
}

// An origin may not have more turns than are left for others. So a new origin always finds a turn,
// however many connections other origins make, and the turns of all origins stay below the limit.
bool admission::may_begin(const share& of_origin) const noexcept {
    const std::size_t whole = limits_.most - limits_.most / 4;
    const std::size_t left = whole - std::min(turns_, whole);
    const std::size_t quota = std::max(limits_.most_per_origin / 2, std::size_t{1});
    return of_origin.turns < std::min(left, quota);
}

admission::candidate* admission::next_turn(ucs::time::nanoseconds now) noexcept {
    if (waiting_.empty()) return nullptr;
    end_turns(now);
    candidate* next = nullptr;
    for (candidate& each : waiting_)
        if (may_begin(*each.share_) &&
            (next == nullptr || each.share_->turns < next->share_->turns))
            next = &each;
    if (next == nullptr) return nullptr;
    waiting_.erase(waiting_.iterator_to(*next));
    --next->share_->waiting;
    begin(*next, now);
    return next;
}

admission::candidate* admission::excess(ucs::time::nanoseconds now) noexcept {
    end_turns(now);
    if (waiting_.size() > limits_.most_waiting) return oldest_of_most_waiting();
    // The caller repeats the call until no candidate is in excess, so any origin above its quota
    // will do.
    const auto found = std::ranges::find_if(shares_, [this](const auto& each) {
        return each.second.begun() > limits_.most_per_origin;
    });
    if (found != shares_.end()) {
        const share& of_origin = found->second;
        const bool spares_silent = of_origin.preferred != 0 &&
                                   of_origin.silent <= tolerated_silent(limits_.most_per_origin);
        return oldest(of_origin, spares_silent);
    }
    if (begun_.size() <= limits_.most) return nullptr;
    std::size_t silent = 0;
    for (const auto& each : shares_)
        silent += each.second.silent;
    return oldest_of_most(silent < begun_.size() && silent <= tolerated_silent(limits_.most));
}

admission::candidate* admission::least() noexcept {
    if (!waiting_.empty()) return oldest_of_most_waiting();
    candidate* const silent = oldest_of_most(false);
    return silent != nullptr ? silent : oldest_of_most(true);
}

admission::candidate* admission::oldest(const share& of_origin, bool is_preferred) noexcept {
    const auto found = std::ranges::find_if(begun_, [&](const candidate& each) {
        return each.share_ == &of_origin && each.is_preferred_ == is_preferred;
    });
    return found == begun_.end() ? nullptr : &*found;
}

// Unauthenticated peers may come from any number of origins with one candidate each, the same
// number as a legitimate new peer has. Age breaks the tie: the newest candidate is the last one to
// be closed.
admission::candidate* admission::oldest_of_most(bool is_preferred) noexcept {
    const auto count = is_preferred ? &share::preferred : &share::silent;
    candidate* found = nullptr;
    for (candidate& each : begun_)
        if (each.is_preferred_ == is_preferred &&
            (found == nullptr || each.share_->*count > found->share_->*count))
            found = &each;
    return found;
}

// At least one candidate must be waiting.
admission::candidate* admission::oldest_of_most_waiting() noexcept {
    return &*std::ranges::max_element(waiting_, {},
                                      [](const candidate& each) { return each.share_->waiting; });
}

admission::candidate* admission::overdue(ucs::time::nanoseconds now) noexcept {
    const auto found = std::ranges::find_if(
        begun_, [now](const candidate& each) { return each.deadline_ <= now; });
    return found == begun_.end() ? nullptr : &*found;
}

origin origin::host(const ip_address& ip) noexcept {
    const std::span<const std::byte> bytes = ip.bytes();
    if (ip.family() == AF_INET) return {kind::ipv4, number_of(bytes)};
    if (ip.family() != AF_INET6) return {};
    if (is_mapped_ipv4(bytes)) return {kind::ipv4, number_of(bytes.subspan(12))};
    // All hosts of a link share the prefix of its local addresses.
    if (ip.is_link_local()) return {kind::link_local, number_of(bytes.subspan(8))};
    return {kind::ipv6, number_of(bytes.first(8))};
}

origin origin::user(uid_t uid) noexcept {
    return {kind::user, uid};
}

origin origin::of_peer(int socket) noexcept {
    socket_address peer;
    if (::getpeername(socket, peer.data(), peer.size_to_fill()) != 0) return {};
    if (peer.data()->sa_family != AF_UNIX) return host(peer.ip());
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
    return user(credentials.uid);
}

}  // namespace ucs::net
