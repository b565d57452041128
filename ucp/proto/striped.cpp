#include "ucp/proto/striped.hpp"

#include <algorithm>
#include <new>

#include "ucp/core/peer.hpp"
#include "ucp/core/request.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/mem/access_path.hpp"

namespace ucp {

namespace {

constexpr std::size_t longest_chunk = std::size_t{1} << 20U;
constexpr std::size_t at_once = 2;  // per rail
// Per rail; a rail that is twice as fast as the others still finds enough chunks.
constexpr std::size_t chunks_to_learn_from = 4;

std::size_t shortest_chunk(const peer& remote) noexcept {
    return remote.owner().owner().options().rail_chunk.bytes;
}

}  // namespace

bool is_striped(const peer& remote, std::size_t length) noexcept {
    return remote.lanes().rail_count() > 1 && length / 2 >= shortest_chunk(remote);
}

std::size_t rails_for(const peer& remote, std::size_t length) noexcept {
    if (!is_striped(remote, length)) return std::min<std::size_t>(remote.lanes().rail_count(), 1);
    return std::min<std::size_t>(remote.lanes().rail_count(),
                                 remote.owner().owner().options().rndv_rails);
}

std::size_t chunk_length_of(double part, std::size_t length, std::size_t shortest,
                            std::size_t longest) noexcept {
    constexpr std::size_t page = 4096;
    const auto share = static_cast<std::size_t>(part * static_cast<double>(length));
    const std::size_t chunks = std::max<std::size_t>(1, (share + longest - 1) / longest);
    const std::size_t whole_pages = (share / chunks + page - 1) / page * page;
    return std::min(std::max(whole_pages, shortest), longest);
}

double rails_bandwidth(const peer& remote, std::size_t length) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < rails_for(remote, length); ++i)
        sum += remote.lanes().rail(i).attr().bandwidth;
    return sum;
}

bool is_wanted_by_send(const uct::completion& parts) noexcept {
    const auto* const state = boost::intrusive::get_parent_from_member(&parts, &send_state::parts);
    return state->holds == nullptr;
}

striped_access::striped_access(peer& remote, const striped_work& work, std::vector<rail> rails,
                               uct::completion& whole, bool (*wanted)(const uct::completion& whole))
    : peer_(remote),
      work_(work),
      whole_(whole),
      wanted_(wanted),
      rails_(std::move(rails)),
      chunks_(rails_.size() * at_once) {
    retries_.reserve(chunks_.size());
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        chunks_[i].access = this;
        chunks_[i].rail = i % rails_.size();
        chunks_[i].pending.progress = progress_chunk;
    }
}

bool striped_access::begin(peer& remote, const striped_work& work, uct::completion& whole,
                           bool (*wanted)(const uct::completion& whole)) noexcept {
    if (!is_striped(remote, work.length) || work.memory == nullptr) return false;
    try {
        std::vector<rail> rails;
        std::size_t most = work.length;
        for (std::size_t i = 0; i < remote.lanes().rail_count() && rails.size() < work.most_rails;
             ++i) {
            const lane& each = remote.lanes().rail(i);
            const uct::remote_memory* const memory = work.memory->key_for(each.device);
            if (memory == nullptr) continue;
            const double nominal = std::max(1.0, each.attr().bandwidth);
            rails.push_back({each.endpoint.get(), memory, nominal, each.share.weight(nominal)});
            most = std::min(most, each.attr().max_rma);
        }
        if (rails.size() < 2) return false;
        const std::size_t longest = std::min(most, longest_chunk);
        if (remote.lanes().share_of(*rails.front().lane)->is_due()) {
            share_to_learn(rails, work.length, shortest_chunk(remote), longest);
        } else {
            share_out(rails, work.length, shortest_chunk(remote), longest);
        }
        auto* const access = new striped_access(remote, work, std::move(rails), whole, wanted);
        slot_of<striped_transfers>(remote).list.push_back(*access);
        ++whole.count;
        access->post_chunks();
    } catch (const std::bad_alloc&) {
        return false;  // a single rail needs less memory
    }
    return true;
}

void striped_access::share_out(std::vector<rail>& among, std::size_t length, std::size_t shortest,
                               std::size_t longest) noexcept {
    double all = 0;
    for (const rail& each : among)
        all += each.weight;
    for (rail& each : among)
        each.chunk_length = chunk_length_of(each.weight / all, length, shortest, longest);
}

// Cuts the transfer into enough chunks to compare the speeds of the rails, unless these would be
// too short.
void striped_access::share_to_learn(std::vector<rail>& among, std::size_t length,
                                    std::size_t shortest, std::size_t longest) noexcept {
    const double part = 1 / static_cast<double>(among.size() * chunks_to_learn_from);
    for (rail& each : among)
        each.chunk_length = chunk_length_of(part, length, shortest, longest);
}

bool striped_access::take(chunk& into) noexcept {
    if (rails_[into.rail].failure != UCS_OK || !wanted_(whole_)) return false;
    if (!retries_.empty()) {
        into.part = retries_.back();
        retries_.pop_back();
    } else if (next_ < work_.length) {
        into.part = {next_, std::min(rails_[into.rail].chunk_length, work_.length - next_)};
        next_ += into.part.length;
    } else {
        return false;
    }
    into.busy = true;
    return true;
}

ucs_status_t striped_access::post(chunk& next) noexcept {
    const rail& used_rail = rails_[next.rail];
    next.done = {.done = chunk_done, .count = 1};
    const uct::iov piece{work_.local + next.part.from, next.part.length};
    const uct::remote_place target{work_.remote + next.part.from, used_rail.memory};
    return work_.put ? used_rail.lane->put_zcopy(std::span(&piece, 1), target, &next.done)
                     : used_rail.lane->get_zcopy(std::span(&piece, 1), target, &next.done);
}

// Returns UCS_ERR_NO_RESOURCE if the lane has no room; otherwise the chunk is in flight or has
// ended. While a chunk waited for room, the program may have released its key.
ucs_status_t striped_access::move(chunk& next) noexcept {
    if (!wanted_(whole_)) {
        ended(next, UCS_ERR_CANCELED);
        return UCS_OK;
    }
    const ucs_status_t status = post(next);
    if (status == UCS_ERR_NO_RESOURCE) return status;
    if (status != UCS_INPROGRESS) ended(next, status);
    return UCS_OK;
}

void striped_access::ended(chunk& finished, ucs_status_t status) noexcept {
    finished.busy = false;
    if (status == UCS_OK) {
        rails_[finished.rail].carried += static_cast<double>(finished.part.length);
        return;
    }
    retries_.push_back(finished.part);
    if (!wanted_(whole_)) return;  // the cause need not be the rail
    rail& used_rail = rails_[finished.rail];
    if (used_rail.failure == UCS_OK) used_rail.failure = status;
    // If a working rail cannot reach the memory, report that rather than the loss of another rail:
    // the data can then be sent by another method.
    if (failure_ == UCS_OK || mem::is_out_of_devices_reach(status)) failure_ = status;
    // Without its message lane the connection ends, also for the rails that still work.
    if (!peer_.lanes().carries_messages(*used_rail.lane)) return;
    for (rail& each : rails_) {
        if (each.failure == UCS_OK) each.failure = status;
    }
}

// Chunks that end at once make room for further chunks.
void striped_access::post_chunks() noexcept {
    if (posting_) return;
    posting_ = true;
    for (bool moved = true; moved;) {
        moved = false;
        for (chunk& each : chunks_) {
            if (each.busy || !take(each)) continue;
            moved = true;
            if (move(each) == UCS_ERR_NO_RESOURCE)
                rails_[each.rail].lane->pending_add(each.pending);
        }
    }
    posting_ = false;
    end_if_over();
}

// Learns from a transfer in which every rail could take several chunks and none failed.
void striped_access::learn_shares() noexcept {
    double all = 0;
    for (const rail& each : rails_) {
        if (each.failure != UCS_OK || peer_.lanes().share_of(*each.lane) == nullptr) return;
        if (each.chunk_length > work_.length / (rails_.size() * chunks_to_learn_from)) return;
        all += each.carried / each.nominal;
    }
    for (const rail& each : rails_) {
        peer_.lanes()
            .share_of(*each.lane)
            ->learn(each.carried / each.nominal, all / static_cast<double>(rails_.size()));
    }
}

void striped_access::end_if_over() noexcept {
    for (const chunk& each : chunks_) {
        if (each.busy) return;
    }
    const bool complete = next_ == work_.length && retries_.empty();
    if (complete) learn_shares();
    uct::completion& whole = whole_;
    const ucs_status_t outcome =
        complete ? UCS_OK : (failure_ != UCS_OK ? failure_ : UCS_ERR_CANCELED);
    delete this;
    whole.finish(outcome);
}

void striped_access::chunk_done(uct::completion& done) noexcept {
    chunk& finished = *boost::intrusive::get_parent_from_member(&done, &chunk::done);
    finished.access->ended(finished, done.status);
    finished.access->post_chunks();
}

ucs_status_t striped_access::progress_chunk(uct::pending_request& queued) noexcept {
    chunk& finished = *boost::intrusive::get_parent_from_member(&queued, &chunk::pending);
    const ucs_status_t status = finished.access->move(finished);
    // In this callback nothing may be sent on which others on this lane wait, and no callback of
    // the program may run.
    if (status == UCS_OK && !finished.busy)
        finished.access->peer_.owner().postponed().resume_later(finished.access->peer_);
    return status;
}

void striped_access::lane_lost(const uct::ep& lane) noexcept {
    for (rail& each : rails_) {
        if (each.lane == &lane && each.failure == UCS_OK) each.failure = UCS_ERR_CANCELED;
    }
    // An access without chunks in flight waits to be resumed, which may not happen any more.
    if (std::ranges::none_of(chunks_, &chunk::busy)) post_chunks();
}

bool striped_access::is_chunk(const uct::pending_request& queued) noexcept {
    return queued.progress == progress_chunk;
}

void striped_access::drop(uct::pending_request& queued) noexcept {
    chunk& finished = *boost::intrusive::get_parent_from_member(&queued, &chunk::pending);
    finished.access->ended(finished, UCS_ERR_CANCELED);
    finished.access->post_chunks();
}

}  // namespace ucp
