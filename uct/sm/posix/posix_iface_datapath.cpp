// Progress of the posix interface: reads the rings, retries connections, and reports failures.
#include <sys/epoll.h>

#include <algorithm>

#include "uct/base/log.hpp"
#include "uct/sm/posix/posix_iface.hpp"

namespace uct::posix {

namespace {
constexpr ucs::time::nanoseconds retry_pause = 1'000'000;
}

unsigned posix_iface::progress() {
    for (const auto& from : rings_) {
        if (from->ring().ready()) return serve();
    }
    return waits_for_room() || attention_ ? serve() : 0;
}

unsigned posix_iface::serve() {
    unsigned count = 0;
    const std::size_t rings = rings_.size();
    for (std::size_t left = rings; left > 0; --left) {
        incoming& from = *rings_[first_];
        if (from.ring().ready()) {
            count += receive(from);
            if (count >= budget_) left = 1;  // the next call begins with the next ring
        }
        if (++first_ == rings) first_ = 0;
    }
    count += dispatch_waiting();
    if (attention_) [[unlikely]]
        count += handle_attention();
    return count;
}

// A handler may create and destroy endpoints, but that does not change the list of rings: it
// changes only in socket events and at the end of progress.
unsigned posix_iface::receive(incoming& from) {
    ring_reader& ring = from.ring();
    unsigned count = 0;
    do {
        ring_message message;
        if (!ring.take(message)) [[unlikely]] {
            rejected().error(posix_log, "pid {} wrote garbage into its ring, it is cut off",
                             from.peer().pid);
            from.end(packet_kind::corrupted);
            need_attention();
            break;
        }
        deliver(message.id, message.data, message.length);
        if (ring.release()) [[unlikely]]
            from.wake();
    } while (++count < budget_ && ring.ready());
    return count;
}

void posix_iface::need_attention() noexcept {
    attention_ = true;
    retries_only_ = false;
    note_work();
}

bool posix_iface::has_work() const noexcept {
    if ((attention_ && !retries_only_) || base_iface::has_work()) return true;
    return std::any_of(rings_.begin(), rings_.end(),
                       [](const auto& from) { return from->ring().ready(); });
}

ucs_status_t posix_iface::arm() noexcept {
    bool busy = false;
    for (const auto& from : rings_)
        busy = !from->ring().sleep() || busy;
    for_each_waiting(
        [&](base_ep& sender) { busy = !static_cast<posix_ep&>(sender).sleep() || busy; });
    if (busy) return UCS_ERR_BUSY;
    // The kernel does not report when the full accept queue of a receiver has room again, so a
    // timer wakes the worker to connect again.
    if (attention_ && retry_timer_ == 0) {
        retry_timer_ = events_.add_timer(
            retry_pause, [this] { retry_timer_ = 0; }, true);
        if (retry_timer_ == 0) return UCS_ERR_NO_MEMORY;
    }
    return fall_asleep();
}

unsigned posix_iface::handle_attention() {
    attention_ = retries_only_ = false;
    retry_connections();
    report_ended();
    drop_drained();
    // Queued sends of a failed endpoint end before its failure is reported.
    const unsigned count = dispatch_waiting();
    return count + finish_completions() + report_failures();
}

// Reports the failure of endpoints whose peer is gone, but first delivers the messages that are
// still in the peer's ring: they may be replies to the endpoint's operations.
void posix_iface::report_ended() {
    if (ended_.empty()) return;
    accept_some();
    while (!ended_.empty()) {
        const std::uint64_t peer = ended_.front().peer_socket();
        read_ring_of(peer);
        // A handler may have destroyed the endpoint.
        if (ended_.empty() || ended_.front().peer_socket() != peer) continue;
        posix_ep& ended = ended_.front();
        ended_.pop_front();
        note_failure(ended, ended.error());
    }
}

// Reads at most as many messages as the ring has slots, because the sender may still be alive and
// write more.
void posix_iface::read_ring_of(std::uint64_t sender) {
    for (const auto& from : rings_) {
        if (from->reply_socket() != sender) continue;
        unsigned count = 0;
        while (from->now() != incoming::state::ended && from->ring().ready() &&
               count < from->ring().slots()) {
            count += receive(*from);
        }
    }
}

std::uint64_t posix_iface::received_from(std::uint64_t sender) const noexcept {
    std::uint64_t count = 0;
    for (const auto& from : rings_) {
        if (from->reply_socket() != sender) continue;
        // A message that is being delivered is still in the ring, but counts as received.
        count += from->ring().received() + (from->ring().ready() ? 1 : 0);
    }
    return count;
}

unsigned posix_iface::finish_completions() {
    // A completion may start another flush, which may reallocate finished_. Entries are erased only
    // at the end and the capacity stays, because expect_flush() has reserved it.
    const std::size_t count = finished_.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto [done, status] = finished_[i];
        done->finish(status);
    }
    finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(count));
    flushes_ -= count;
    return static_cast<unsigned>(count);
}

void posix_iface::retry_connections() {
    retry_list taken;
    taken.swap(retry_);
    while (!taken.empty()) {
        posix_ep& endpoint = taken.front();
        taken.pop_front();
        if (!endpoint.retry()) retry_.push_back(endpoint);
    }
    if (introduce_orphans() || !retry_.empty()) attention_ = retries_only_ = true;
}

// Continues the connections whose endpoints are already destroyed but whose receivers do not have
// the ring yet.
bool posix_iface::introduce_orphans() {
    bool try_again = false;
    for (std::unique_ptr<outgoing>* place = &orphans_; *place != nullptr;) {
        outgoing& orphan = **place;
        if (orphan.introduce() == UCS_INPROGRESS) {
            try_again = !watch(orphan) || try_again;
            place = &orphan.next_orphan;
        } else {
            if (orphan.watched) events_.remove(orphan.socket());
            *place = std::move(orphan.next_orphan);
        }
    }
    return try_again;
}

// Watches the orphan's socket if the next step is a reply of the receiver. Returns false if the
// caller must retry the orphan itself, because the socket does not report when that is possible.
bool posix_iface::watch(outgoing& orphan) noexcept {
    if (!orphan.awaits_reply()) return false;
    if (!orphan.watched) {
        orphan.watched = events_.add(orphan.socket(), EPOLLIN | EPOLLRDHUP,
                                     [this](std::uint32_t) { need_attention(); }) == UCS_OK;
    }
    return orphan.watched;
}

void posix_iface::drop_drained() {
    for (std::size_t i = rings_.size(); i-- > 0;) {
        incoming& from = *rings_[i];
        if (from.now() == incoming::state::draining) {
            if (from.ring().ready()) {
                need_attention();
                continue;
            }
            from.drained();
        }
        if (from.now() == incoming::state::ended) remove(from);
    }
}

}  // namespace uct::posix
