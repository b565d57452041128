// Endpoints to the members of a group.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <vector>

#include "ucg/net/address_book.hpp"
#include "ucs/type/result.hpp"

namespace ucg::net {

// Endpoints to the ranks of a group that were sent something: a rank of thousands talks to a few.
// Endpoints use error handling mode peer, so that operations to a rank that died end. Owned by the
// group; owner context.
class peers {
public:
    // Called once for each peer that is lost, by report_lost(), give_up() or mark_left().
    using loss_function = void (*)(void* arg, schedule::rank_t lost, ucs_status_t why);
    // Called once for each peer whose endpoint is made after endpoint() returned UCS_INPROGRESS for
    // it, before the call that makes it returns.
    using reach_function = void (*)(void* arg, schedule::rank_t reached, ucp_ep_h endpoint);

    // Throws std::bad_alloc.
    peers(ucp_worker_h worker, member_addresses addresses, loss_function lost,
          reach_function reached, void* arg)
        : worker_(worker),
          addresses_(std::move(addresses)),
          entries_(addresses_.size()),
          lost_(lost),
          reached_(reached),
          arg_(arg) {
        unreported_.reserve(entries_.size());
    }
    peers(const peers&) = delete;
    peers& operator=(const peers&) = delete;
    // Closes without waiting: operations under way end with an error.
    ~peers();

    [[nodiscard]] schedule::rank_t size() const noexcept { return addresses_.size(); }
    [[nodiscard]] const member_addresses& addresses() const noexcept { return addresses_; }

    // Returns the endpoint to a rank, made when its address is first known. Returns UCS_INPROGRESS
    // if the address is not known yet and the caller must ask again. Returns the error of a peer
    // that was lost, or whose endpoint cannot be made or address not found, with a line in the log.
    [[nodiscard]] ucs::result<ucp_ep_h> endpoint(schedule::rank_t rank) noexcept {
        const entry& peer = entries_[rank];
        if (peer.failure != UCS_OK || peer.left) [[unlikely]]
            return failure(rank);
        if (peer.endpoint != nullptr) [[likely]]
            return peer.endpoint;
        return make(rank);
    }

    // Returns whether there is an endpoint to the rank.
    [[nodiscard]] bool has_endpoint(schedule::rank_t rank) const noexcept {
        return entries_[rank].endpoint != nullptr;
    }

    // Reports the peers that ucp has lost since the last call, and returns their number. ucp
    // reports losses also within calls that send or make an endpoint, where the caller iterates
    // over lists that a loss changes.
    unsigned report_lost() noexcept;

    // Fails everything under way to a rank, which counts as lost from now on.
    void give_up(schedule::rank_t rank) noexcept;

    // Returns UCS_OK, or why the peer was lost.
    [[nodiscard]] ucs_status_t failure(schedule::rank_t rank) const noexcept {
        const entry& peer = entries_[rank];
        return peer.failure == UCS_OK && peer.left ? UCS_ERR_CONNECTION_RESET : peer.failure;
    }

    // Notes that a rank has left the group; it counts as lost from now on. Sends to it end by
    // themselves, because it may have received them.
    void mark_left(schedule::rank_t rank) noexcept;
    [[nodiscard]] bool has_left(schedule::rank_t rank) const noexcept {
        return entries_[rank].left;
    }

    // Calls `function` with the endpoint of each rank that has one and is not lost.
    template<class Function>
    void for_each_endpoint(const Function& function) const noexcept {
        for (const entry& each : entries_)
            if (each.endpoint != nullptr && each.failure == UCS_OK && !each.left)
                function(each.endpoint);
    }

    // Begins to close all endpoints; the worker's progress continues it. Returns whether all are
    // closed. The caller calls it again until then.
    [[nodiscard]] bool close() noexcept;

private:
    struct entry {
        peers* owner = nullptr;
        ucp_ep_h endpoint = nullptr;
        ucs_status_ptr_t closing = nullptr;
        ucs_status_t failure = UCS_OK;
        bool awaited = false;  // endpoint() returned UCS_INPROGRESS
        bool left = false;
    };
    [[nodiscard]] ucs::result<ucp_ep_h> make(schedule::rank_t rank) noexcept;
    static void on_error(void* arg, ucp_ep_h endpoint, ucs_status_t why);
    static void begin_close(entry& peer, unsigned flags) noexcept;

    const ucp_worker_h worker_;
    const member_addresses addresses_;
    std::vector<entry> entries_;                // entries never move
    std::vector<schedule::rank_t> unreported_;  // for report_lost(); has room for all
    const loss_function lost_;
    const reach_function reached_;
    void* const arg_;
};

}  // namespace ucg::net
