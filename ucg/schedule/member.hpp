// A member: the view that an algorithm has of its rank and its group.
#pragma once

#include <cstddef>

#include "ucg/schedule/arena.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/schedule/flight.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/schedule/placement.hpp"
#include "ucg/schedule/task.hpp"

namespace ucg::schedule {

// One rank of a group or of a part of a group. In a part, ranks are numbered from 0. A value; its
// operation outlives it. A step begins when it is called, and `co_await` waits for its end. If the
// operation failed, the coroutine is not resumed. Owner context.
class member {
public:
    member(operation& owner, rank_t rank, rank_t size) noexcept
        : owner_(&owner), rank_(rank), size_(size) {}

    [[nodiscard]] rank_t rank() const noexcept { return rank_; }
    [[nodiscard]] rank_t size() const noexcept { return size_; }

    // Returns the member of a part: `ranks` lists the ranks of the part in the numbering of the
    // group, and `rank` is the index of this rank in the list. `ranks` must outlive the part. A
    // part of a part is not supported.
    [[nodiscard]] member part(const rank_t* ranks, rank_t rank, rank_t size) const noexcept;
    // Returns this member on another channel, for algorithms that run at the same time.
    [[nodiscard]] member on_channel(channel_t channel) const noexcept;
    // Returns this member with an arena from which scratch() takes memory. So an algorithm can
    // reuse the memory of an earlier one that has ended. The arena must outlive the member.
    [[nodiscard]] member with(arena& scratch) const noexcept;

    flight send(rank_t to, const void* data, std::size_t bytes) noexcept {
        return {*this, to, data, bytes};
    }
    flight receive(rank_t from, void* data, std::size_t bytes) noexcept {
        return {*this, from, data, bytes};
    }
    flight exchange(rank_t to, const void* out, std::size_t out_bytes, rank_t from, void* in,
                    std::size_t in_bytes) noexcept {
        return {*this, to, out, out_bytes, from, in, in_bytes};
    }
    // Sends and receives the same number of bytes to and from one rank.
    flight exchange(rank_t peer, const void* out, void* in, std::size_t bytes) noexcept {
        return {*this, peer, out, bytes, peer, in, bytes};
    }

    // into[i] = left[i] op right[i]. `into` may be equal to `left` or `right`. `last`: the elements
    // are final after this step (an average is divided there).
    local_work reduce(const reducer& op, void* into, const void* left, const void* right,
                      std::size_t count, bool last) noexcept;
    // The same with up to reduction::max_sources sources.
    local_work reduce(void* into, const reduction& operands) noexcept {
        return {*this, into, operands};
    }

    // Does nothing if `into` and `from` are equal.
    local_work copy(void* into, const void* from, std::size_t bytes) noexcept {
        return {*this, into, from, bytes};
    }

    // Begins a collective of the ranks that share this rank's node, numbered by
    // placement::index_of(). All of them must ask for the same collectives in the same order, over
    // all operations. Only for groups whose fabric has a placement.
    node_work node_collective(const call& args) noexcept { return {*this, args}; }
    [[nodiscard]] const placement& node_placement() const noexcept;

    // Returns the next `bytes` bytes of the operation's scratch memory (or of the arena), aligned
    // for any element and valid until the end of the operation. An algorithm must not take more
    // than its row has asked for; otherwise the operation fails.
    [[nodiscard]] std::byte* scratch(std::size_t bytes) noexcept;

    // For the classes of steps and tasks.
    [[nodiscard]] operation& owner() const noexcept { return *owner_; }
    [[nodiscard]] rank_t peer(rank_t rank) const noexcept {
        return ranks_ == nullptr ? rank : ranks_[rank];
    }
    [[nodiscard]] channel_t channel() const noexcept { return channel_; }

private:
    operation* owner_;
    const rank_t* ranks_ = nullptr;  // null: the same numbers as in the group
    arena* scratch_ = nullptr;       // null: the operation's
    rank_t rank_;
    rank_t size_;
    channel_t channel_ = 0;
};

}  // namespace ucg::schedule
