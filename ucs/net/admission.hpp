// Which connections of unknown peers are kept, and which one ends when there are too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/net/origin.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/status.h"

namespace ucs::net {

struct admission_limits {
    std::size_t most = 0;                      // candidates in all
    std::size_t most_per_origin = 0;           // candidates of one origin
    ucs::time::nanoseconds time_to_prove = 0;  // from the time that a candidate was added
    // How long, from the same time, a valid first record helps, where the proof takes a further
    // round trip. 0: until the candidate has proven itself or has to.
    ucs::time::nanoseconds time_of_preference = 0;
};

// The policy that every accepting socket shares. A connection is a candidate from the time that it
// was accepted until it has proven that it belongs to a peer. A new candidate is always added, and
// the caller then closes the candidates that excess() names:
//   1. If an origin has more than its quota, a candidate of this origin ends.
//   2. Otherwise, if there are too many in all, a candidate of the origin that has most ends.
//   3. A silent candidate ends before one that sent a valid first record, and the older one first.
//   4. With `time_of_preference`, a candidate whose time is over counts as silent, and while more
//      than half of a limit sent a valid first record the caller accepts nothing. So a crowd of
//      peers proves itself in turns, and a crowd of strangers keeps others waiting for that time.
// So a crowd of connections displaces its own connections, and a peer that sends its first record
// without delay is served at once, however many others are silent.
// The class does no input or output and knows no sockets. Owner context.
class admission {
    struct share;  // what one origin has

public:
    // A connection that has proven nothing yet. Users derive from it. It leaves the admission when
    // it is destroyed, and must not outlive it.
    class candidate {
    public:
        candidate() noexcept = default;
        ~candidate() { leave(); }
        candidate(const candidate&) = delete;
        candidate& operator=(const candidate&) = delete;

        [[nodiscard]] bool is_added() const noexcept { return owner_ != nullptr; }
        // Whether it sent a valid first record.
        [[nodiscard]] bool is_preferred() const noexcept { return is_preferred_; }

    private:
        friend class admission;
        void leave() noexcept {
            if (owner_ != nullptr) owner_->remove(*this);
        }
        datastruct::list_hook hook_;
        admission* owner_ = nullptr;
        share* share_ = nullptr;
        origin origin_;
        ucs::time::nanoseconds deadline_ = 0;
        ucs::time::nanoseconds preferred_until_ = 0;
        bool is_preferred_ = false;
    };

    static constexpr ucs::time::nanoseconds never = ~ucs::time::nanoseconds{0};

    explicit admission(const admission_limits& limits) noexcept : limits_(limits) {}
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;

    // UCS_ERR_NO_MEMORY: it was not added.
    [[nodiscard]] ucs_status_t add(candidate& fresh, const origin& from,
                                   ucs::time::nanoseconds now) noexcept;
    // The candidate is proven, or its connection ended. Does nothing if it was not added.
    void remove(candidate& which) noexcept;
    // The candidate sent a valid first record: silent ones end before it does.
    void prefer(candidate& which) noexcept;
    // Replaces the time at which the candidate has to have proven itself; may be `never`.
    void set_deadline(candidate& which, ucs::time::nanoseconds deadline) noexcept;

    // The candidate that has to end because a limit is exceeded; nullptr: none has to.
    [[nodiscard]] candidate* excess(ucs::time::nanoseconds now) noexcept;
    // Returns whether the caller has to accept nothing, because many peers are about to prove
    // themselves.
    [[nodiscard]] bool is_busy() const noexcept;
    // The candidate that is worth least, for a caller that is out of descriptors or memory;
    // nullptr: there is none.
    [[nodiscard]] candidate* least() noexcept;
    // A candidate whose time is over; nullptr: none.
    [[nodiscard]] candidate* overdue(ucs::time::nanoseconds now) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return candidates_.size(); }
    [[nodiscard]] const admission_limits& limits() const noexcept { return limits_; }

private:
    struct share {
        std::size_t silent = 0;
        std::size_t preferred = 0;
        [[nodiscard]] std::size_t all() const noexcept { return silent + preferred; }
    };

    void end_preferences(ucs::time::nanoseconds now) noexcept;
    [[nodiscard]] candidate* oldest(const share& of_origin, bool is_preferred) noexcept;

    const admission_limits limits_;
    datastruct::counted_list<candidate, &candidate::hook_> candidates_;  // the oldest first
    std::unordered_map<origin, share> shares_;
};

}  // namespace ucs::net
