#include "ucp/rma/striped.hpp"

#include <algorithm>
#include <new>

#include "ucp/core/peer.hpp"
#include "ucp/core/request.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/mem/reached.hpp"

namespace ucp {

namespace {

constexpr std::size_t longest_chunk = std::size_t{1} << 20U;
constexpr std::size_t at_once = 2;  // per rail
// For each rail; one that is twice as fast as the others still finds as many.
constexpr std::size_t chunks_to_learn_from = 4;

std::size_t shortest_chunk(const peer& with) noexcept {
    return with.owner().owner().options().rail_chunk.bytes;
}

}  // namespace

bool is_striped(const peer& with, std::size_t length) noexcept {
    return with.rail_count() > 1 && length / 2 >= shortest_chunk(with);
}

std::size_t rails_for(const peer& with, std::size_t length) noexcept {
    if (!is_striped(with, length)) return std::min<std::size_t>(with.rail_count(), 1);
    return std::min<std::size_t>(with.rail_count(), with.owner().owner().options().rndv_rails);
}

std::size_t chunk_length_of(double part, std::size_t length, std::size_t shortest,
                            std::size_t longest) noexcept {
    constexpr std::size_t page = 4096;
    const auto share = static_cast<std::size_t>(part * static_cast<double>(length));
    const std::size_t chunks = std::max<std::size_t>(1, (share + longest - 1) / longest);
    const std::size_t whole_pages = (share / chunks + page - 1) / page * page;
    return std::min(std::max(whole_pages, shortest), longest);
}

double rails_bandwidth(const peer& with, std::size_t length) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < rails_for(with, length); ++i)
        sum += with.attr_of(with.rail(i)).bandwidth;
    return sum;
}

bool is_wanted_by_send(const uct::completion& parts) noexcept {
    const auto* const state = boost::intrusive::get_parent_from_member(&parts, &send_state::parts);
    return !state->aborted;
}

striped_access::striped_access(peer& with, const striped_work& work, std::vector<rail> rails,
                               uct::completion& whole, bool (*wanted)(const uct::completion& whole))
    : with_(with),
      work_(work),
      whole_(whole),
      wanted_(wanted),
      rails_(std::move(rails)),
      chunks_(rails_.size() * at_once) {
    again_.reserve(chunks_.size());
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        chunks_[i].of = this;
        chunks_[i].rail = i % rails_.size();
        chunks_[i].pending.progress = progress_chunk;
    }
}

bool striped_access::begin(peer& with, const striped_work& work, uct::completion& whole,
                           bool (*wanted)(const uct::completion& whole)) noexcept {
    if (!is_striped(with, work.length) || work.memory == nullptr) return false;
    try {
        std::vector<rail> rails;
        std::size_t most = work.length;
        for (std::size_t i = 0; i < with.rail_count() && rails.size() < work.most_rails; ++i) {
            const wireup::lane& each = with.rail(i);
            const uct::remote_memory* const in = work.memory->on(each.device);
            if (in == nullptr) continue;
            const double nominal = std::max(1.0, with.attr_of(each).bandwidth);
            rails.push_back({each.endpoint.get(), in, nominal, each.share.weight(nominal)});
            most = std::min(most, with.attr_of(each).max_rma);
        }
        if (rails.size() < 2) return false;
        const std::size_t longest = std::min(most, longest_chunk);
        if (with.share_of(*rails.front().lane)->is_due()) {
            share_to_learn(rails, work.length, shortest_chunk(with), longest);
        } else {
            share_out(rails, work.length, shortest_chunk(with), longest);
        }
        auto* const made = new striped_access(with, work, std::move(rails), whole, wanted);
        with.add(*made);
        ++whole.count;
        made->feed();
    } catch (const std::bad_alloc&) {
        return false;  // one rail needs less
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

// As many chunks for all as show who is how fast, if they are not too short.
void striped_access::share_to_learn(std::vector<rail>& among, std::size_t length,
                                    std::size_t shortest, std::size_t longest) noexcept {
    const double part = 1 / static_cast<double>(among.size() * chunks_to_learn_from);
    for (rail& each : among)
        each.chunk_length = chunk_length_of(part, length, shortest, longest);
}

bool striped_access::take(chunk& into) noexcept {
    if (rails_[into.rail].failure != UCS_OK || !wanted_(whole_)) return false;
    if (!again_.empty()) {
        into.what = again_.back();
        again_.pop_back();
    } else if (next_ < work_.length) {
        into.what = {next_, std::min(rails_[into.rail].chunk_length, work_.length - next_)};
        next_ += into.what.length;
    } else {
        return false;
    }
    into.busy = true;
    return true;
}

ucs_status_t striped_access::post(chunk& next) noexcept {
    const rail& over = rails_[next.rail];
    next.done = {.done = chunk_done, .count = 1};
    const uct::iov piece{work_.local + next.what.from, next.what.length};
    const uct::remote_place place{work_.remote + next.what.from, over.in};
    return work_.put ? over.lane->put_zcopy(std::span(&piece, 1), place, &next.done)
                     : over.lane->get_zcopy(std::span(&piece, 1), place, &next.done);
}

// UCS_ERR_NO_RESOURCE: its lane has no room. Else it is in flight or has ended. While one waited
// for room the program may have taken back its key.
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

void striped_access::ended(chunk& which, ucs_status_t status) noexcept {
    which.busy = false;
    if (status == UCS_OK) {
        rails_[which.rail].carried += static_cast<double>(which.what.length);
        return;
    }
    again_.push_back(which.what);
    if (!wanted_(whole_)) return;  // the rail need not be the reason
    rail& over = rails_[which.rail];
    if (over.failure == UCS_OK) over.failure = status;
    // That a rail which works cannot reach the memory says more than that another one was lost: the
    // data can go another way.
    if (failure_ == UCS_OK || mem::is_out_of_devices_reach(status)) failure_ = status;
    // Without its lane of messages the connection is over, also for the rails that still work.
    if (!with_.carries_messages(*over.lane)) return;
    for (rail& each : rails_) {
        if (each.failure == UCS_OK) each.failure = status;
    }
}

// Chunks that end at once make room for others.
void striped_access::feed() noexcept {
    if (feeding_) return;
    feeding_ = true;
    for (bool moved = true; moved;) {
        moved = false;
        for (chunk& each : chunks_) {
            if (each.busy || !take(each)) continue;
            moved = true;
            if (move(each) == UCS_ERR_NO_RESOURCE)
                rails_[each.rail].lane->pending_add(each.pending);
        }
    }
    feeding_ = false;
    end_if_over();
}

// Of a transfer in which every rail could take several chunks, and none failed.
void striped_access::learn_shares() noexcept {
    double all = 0;
    for (const rail& each : rails_) {
        if (each.failure != UCS_OK || with_.share_of(*each.lane) == nullptr) return;
        if (each.chunk_length > work_.length / (rails_.size() * chunks_to_learn_from)) return;
        all += each.carried / each.nominal;
    }
    for (const rail& each : rails_) {
        with_.share_of(*each.lane)
            ->learn(each.carried / each.nominal, all / static_cast<double>(rails_.size()));
    }
}

void striped_access::end_if_over() noexcept {
    for (const chunk& each : chunks_) {
        if (each.busy) return;
    }
    const bool complete = next_ == work_.length && again_.empty();
    if (complete) learn_shares();
    uct::completion& whole = whole_;
    const ucs_status_t outcome =
        complete ? UCS_OK : (failure_ != UCS_OK ? failure_ : UCS_ERR_CANCELED);
    delete this;
    whole.finish(outcome);
}

void striped_access::chunk_done(uct::completion& done) noexcept {
    chunk& which = *boost::intrusive::get_parent_from_member(&done, &chunk::done);
    which.of->ended(which, done.status);
    which.of->feed();
}

ucs_status_t striped_access::progress_chunk(uct::pending_request& queued) noexcept {
    chunk& which = *boost::intrusive::get_parent_from_member(&queued, &chunk::pending);
    const ucs_status_t status = which.of->move(which);
    // In here nothing may be sent that others on this lane wait behind, and no callback may run.
    if (status == UCS_OK && !which.busy) which.of->with_.owner().go_on_later(which.of->with_);
    return status;
}

void striped_access::lose(const uct::ep& lane) noexcept {
    for (rail& each : rails_) {
        if (each.lane == &lane && each.failure == UCS_OK) each.failure = UCS_ERR_CANCELED;
    }
    // One that has nothing under way waits to go on, which may not come any more.
    if (std::ranges::none_of(chunks_, &chunk::busy)) feed();
}

bool striped_access::is(const uct::pending_request& queued) noexcept {
    return queued.progress == progress_chunk;
}

void striped_access::drop(uct::pending_request& queued) noexcept {
    chunk& which = *boost::intrusive::get_parent_from_member(&queued, &chunk::pending);
    which.of->ended(which, UCS_ERR_CANCELED);
    which.of->feed();
}

}  // namespace ucp
