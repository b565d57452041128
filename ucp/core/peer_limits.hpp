// Limits on what all peers of a worker together may cause.
#pragma once

#include "ucp/core/peer_table.hpp"
#include "ucp/core/schedule.hpp"
#include "ucp/core/shared_limit.hpp"
#include "ucp/core/uninvited.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucp {

// Part of the worker; owner context.
class peer_limits {
public:
    peer_limits(worker& owner, schedule& turns) noexcept : owner_(owner), schedule_(turns) {}

    // Endpoints made by peers' requests that the program has not asked for.
    [[nodiscard]] uninvited_peers& uninvited() noexcept { return uninvited_; }
    // Limit on control messages and replies that wait for room on the lanes to their peers. A peer
    // that sends requests and does not read causes any number of them.
    [[nodiscard]] shared_limit& waiting() noexcept { return waiting_; }
    // Takes memory that counts towards this limit, or one that a feature checks when
    // events::limits_checked is published. If the limit is exceeded, the peer with the largest
    // share fails with the next progress, not at once, because the caller is in the middle of other
    // work.
    void take(shared_limit& limit, limit_share& share, std::uint64_t bytes) noexcept {
        limit.take(share, bytes);
        if (limit.is_passed()) [[unlikely]]
            schedule_.hurry();
    }
    // Fails the peer with the largest share if the limit is exceeded, and logs the reason: the peer
    // `does` something. Returns the number of failed peers.
    unsigned fail_for_limit(const shared_limit& limit, peer_table::share_getter share_of,
                            const char* does);
    // Does so for all limits.
    unsigned fail_for_limits();

private:
    worker& owner_;
    schedule& schedule_;
    uninvited_peers uninvited_{uninvited_limits::of_process()};
    shared_limit waiting_{ucs::sys::peer_memory_limit()};
};

}  // namespace ucp
