// Sleeping until another rank of the node publishes something.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdint>

#include "ucg/node/memory/shared_memory.hpp"
#include "ucs/sys/pause.hpp"

namespace ucg::node {

// Returns whether this many ranks of the node outnumber the cores that they have. If this process
// is bound to one core, the other ranks are likely bound to other cores, so the machine's number of
// cores counts.
[[nodiscard]] inline bool exceeds_cores(std::uint64_t ranks) noexcept {
    cpu_set_t set;
    const int own_cores = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    static const long online = ::sysconf(_SC_NPROCESSORS_ONLN);  // reads a file
    const long cores = own_cores > 1 ? own_cores : online > 0 ? online : 1;
    return ranks > static_cast<std::uint64_t>(cores);
}

// Returns the limits of a waiting rank: no pauses if the ranks outnumber the cores that this
// process may use.
[[nodiscard]] ucs::arch::backoff::limits usual_backoff(rank_t ranks) noexcept;

// The sleeper of a rank for ucs::arch::backoff. Owner context; one per rank.
//
// A rank that publishes something wakes sleepers (wake_sleepers). There is no fence between the
// publisher's store and its read of the count of sleepers, because every publication would pay for
// it. So a wakeup may be missed within the nanoseconds that a store needs to become visible;
// therefore a sleep ends by itself after a short time.
class sleeper {
public:
    sleeper(const shared_memory& memory, rank_t rank) noexcept : memory_(memory), rank_(rank) {}
    void prepare() const noexcept;
    void sleep() const noexcept;
    void cancel() const noexcept;

private:
    const shared_memory& memory_;
    rank_t rank_;
};

namespace detail {
void wake_all(const shared_memory& memory, rank_t except) noexcept;
}

// Wakes sleeping ranks after this rank has published something for any of them.
inline void wake_sleepers(const shared_memory& memory, rank_t me) noexcept {
    if (std::atomic_ref(memory.sleepers()).load(std::memory_order_relaxed) != 0) [[unlikely]]
        detail::wake_all(memory, me);
}

}  // namespace ucg::node
