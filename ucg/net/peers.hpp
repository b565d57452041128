// The members of a group as ucp reaches them.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <vector>

#include "ucg/net/address_book.hpp"
#include "ucs/type/result.hpp"

namespace ucg::net {

// Endpoints to those ranks of a group that something was sent to: a rank of thousands talks to a
// few. Endpoints are in error handling mode peer, so that what is under way to a rank that died
// ends. Owned by the group; owner context.
class peers {
public:
    // Told once for each peer that is lost, by tell_lost(), give_up() or note_left().
    using loss_function = void (*)(void* arg, schedule::rank_t lost, ucs_status_t why);
    // Told once for each peer whose endpoint is made after to() said that it is not there yet,
    // before that call returns.
    using reach_function = void (*)(void* arg, schedule::rank_t reached, ucp_ep_h by);

    // std::bad_alloc.
    peers(ucp_worker_h worker, contacts all, loss_function lost, reach_function reached, void* arg)
        : worker_(worker),
          contacts_(std::move(all)),
          entries_(contacts_.size()),
          lost_(lost),
          reached_(reached),
          arg_(arg) {
        untold_.reserve(entries_.size());
    }
    peers(const peers&) = delete;
    peers& operator=(const peers&) = delete;
    // Without waiting: what is under way ends with an error.
    ~peers();

    [[nodiscard]] schedule::rank_t size() const noexcept { return contacts_.size(); }
    [[nodiscard]] const contacts& all() const noexcept { return contacts_; }

    // The endpoint to a rank, made when its address is first there. UCS_INPROGRESS: it is not there
    // yet, ask again. The error of one that was lost, or cannot be made or found, with a line in
    // the log.
    [[nodiscard]] ucs::result<ucp_ep_h> to(schedule::rank_t rank) noexcept {
        const entry& which = entries_[rank];
        if (which.failure != UCS_OK || which.left) [[unlikely]]
            return failure(rank);
        if (which.endpoint != nullptr) [[likely]]
            return which.endpoint;
        return make(rank);
    }

    // Whether there is an endpoint to it already.
    [[nodiscard]] bool is_called(schedule::rank_t rank) const noexcept {
        return entries_[rank].endpoint != nullptr;
    }

    // Tells of those that ucp has lost since the last call. ucp says so also within calls that send
    // or make an endpoint, where the caller walks lists that a loss changes. Returns their number.
    unsigned tell_lost() noexcept;

    // Ends all that is under way to a rank, which counts as lost from now on.
    void give_up(schedule::rank_t rank) noexcept;

    // UCS_OK, or why the peer was lost.
    [[nodiscard]] ucs_status_t failure(schedule::rank_t rank) const noexcept {
        const entry& which = entries_[rank];
        return which.failure == UCS_OK && which.left ? UCS_ERR_CONNECTION_RESET : which.failure;
    }

    // It has left the group, and counts as lost from now on. What is on its way to it ends by
    // itself: it may have been taken.
    void note_left(schedule::rank_t rank) noexcept;
    [[nodiscard]] bool has_left(schedule::rank_t rank) const noexcept {
        return entries_[rank].left;
    }

    // Calls `tell` with every endpoint to a rank that is not lost.
    template<class Tell>
    void tell_all(const Tell& tell) const noexcept {
        for (const entry& each : entries_)
            if (each.endpoint != nullptr && each.failure == UCS_OK && !each.left)
                tell(each.endpoint);
    }

    // Begins to close all endpoints; the worker's progress goes on with it. Returns whether all are
    // closed; call it again until then.
    [[nodiscard]] bool close() noexcept;

private:
    struct entry {
        peers* of = nullptr;
        ucp_ep_h endpoint = nullptr;
        ucs_status_ptr_t closing = nullptr;
        ucs_status_t failure = UCS_OK;
        bool awaited = false;  // somebody was told that it is not there yet
        bool left = false;
    };
    [[nodiscard]] ucs::result<ucp_ep_h> make(schedule::rank_t rank) noexcept;
    static void on_error(void* arg, ucp_ep_h which, ucs_status_t why);
    static void begin_close(entry& which, unsigned flags) noexcept;

    const ucp_worker_h worker_;
    const contacts contacts_;
    std::vector<entry> entries_;            // never moves
    std::vector<schedule::rank_t> untold_;  // see tell_lost; has room for all
    const loss_function lost_;
    const reach_function reached_;
    void* const arg_;
};

}  // namespace ucg::net
