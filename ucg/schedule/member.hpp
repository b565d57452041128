// What an algorithm sees of its group.
#pragma once

#include <cstddef>

#include "ucg/schedule/arena.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/schedule/flight.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/schedule/placement.hpp"
#include "ucg/schedule/task.hpp"

namespace ucg::schedule {

// One rank's place in a group, or in a part of one: ranks count from 0 in the part. A value; the
// operation that it belongs to outlives it. All steps begin at once, and `co_await` waits for their
// end; a step of an operation that failed never ends. Owner context.
class member {
public:
    member(operation& owner, rank_t rank, rank_t size) noexcept
        : owner_(&owner), rank_(rank), size_(size) {}

    [[nodiscard]] rank_t rank() const noexcept { return rank_; }
    [[nodiscard]] rank_t size() const noexcept { return size_; }

    // The members that `ranks` names (of this member's numbering), this rank at place `rank` among
    // them. `ranks` outlives the part; parts of parts are not there.
    [[nodiscard]] member part(const rank_t* ranks, rank_t rank, rank_t size) const noexcept;
    // The same members on another channel: for algorithms that run at the same time.
    [[nodiscard]] member on(channel_t channel) const noexcept;
    // The same one, which takes scratch memory from an arena: what an algorithm took of it that has
    // ended, another can take again. The arena outlives it.
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
    // The same number of bytes to and from one rank.
    flight exchange(rank_t with, const void* out, void* in, std::size_t bytes) noexcept {
        return {*this, with, out, bytes, with, in, bytes};
    }

    // into[i] = left[i] op right[i]; `into` may be one of them. `last`: these elements are complete
    // after it (an average is divided there).
    local_work reduce(const reducer& how, void* into, const void* left, const void* right,
                      std::size_t count, bool last) noexcept;
    // The same of up to reduction::max_sources sources.
    local_work reduce(void* into, const reduction& what) noexcept { return {*this, into, what}; }

    // Nothing is done where both are the same place.
    local_work copy(void* into, const void* from, std::size_t bytes) noexcept {
        return {*this, into, from, bytes};
    }

    // A collective of the ranks that share this rank's node, numbered as placement says: all of
    // them ask for the same ones in the same order, in one operation as in all. For ranks of
    // groups whose fabric has a placement.
    node_work together(const call& what) noexcept { return {*this, what}; }
    [[nodiscard]] const placement& where() const noexcept;

    // The next `bytes` bytes of the operation's scratch memory (or of the arena), aligned for any
    // element and valid to its end. All of what an algorithm takes is what its row asked for
    // beforehand; to take more is a failure of the operation.
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
