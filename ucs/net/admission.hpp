// Which connections of unknown peers are kept, and which one ends when there are too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/net/origin.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/status.h"

namespace ucs::net {

struct admission_limits {
    std::size_t most = 0;                      // candidates in all that do not wait
    std::size_t most_per_origin = 0;           // candidates of one origin that do not wait
    ucs::time::nanoseconds time_to_prove = 0;  // from the time that a candidate begins
    // Where the proof takes a further round trip: how long a valid first record helps, from the
    // time that the candidate begins, and how many further candidates wait for their turn. 0: a
    // first record helps until the candidate has proven itself or has to, and none waits.
    ucs::time::nanoseconds turn_length = 0;
    std::size_t most_waiting = 0;
};

// The policy that every accepting socket shares. A connection is a candidate from the time that it
// was accepted until it has proven that it belongs to a peer. A new candidate is always added, and
// the caller then closes the candidates that excess() names:
//   1. If an origin has more than its quota, a candidate of this origin ends.
//   2. Otherwise, if there are too many in all, a candidate of the origin that has most ends. Where
//      several have as many, it is the oldest of all their candidates.
//   3. A silent candidate ends before one that sent a valid first record, unless silent ones are
//      fewer than an eighth of the limit; and the older one ends first.
//   4. With `turn_length`, a candidate has a turn from its first record on, until its proof or
//      until its time is over; then it counts as silent. Turns are three quarters of the whole,
//      and an origin may have half of its quota, but no more than are left for others. Further
//      candidates of an origin that has used its turns wait, unread, until one of them ends. Of
//      those that may begin, the one begins whose origin has the fewest turns, and that came first.
//   5. If too many wait, the oldest one of the origin that has most waiting ends.
// So a crowd of connections displaces and delays its own connections, and a peer that sends its
// first record without delay is served at once, however many others are silent.
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
        // Returns whether it was added and waits for its turn: the caller must not read from it.
        [[nodiscard]] bool is_waiting() const noexcept { return is_waiting_; }
        // Returns whether it sent a valid first record, which still helps it.
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
        ucs::time::nanoseconds turn_end_ = 0;
        bool is_waiting_ = false;
        bool is_preferred_ = false;
        bool has_turn_ = false;
    };

    static constexpr ucs::time::nanoseconds never = ~ucs::time::nanoseconds{0};

    explicit admission(const admission_limits& limits) noexcept : limits_(limits) {}
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;

    // Adds a candidate, which begins at once or waits. UCS_ERR_NO_MEMORY: it was not added.
    [[nodiscard]] ucs_status_t add(candidate& fresh, const origin& from,
                                   ucs::time::nanoseconds now) noexcept;
    // The candidate is proven, or its connection ended. Does nothing if it was not added.
    void remove(candidate& which) noexcept;
    // Lets the next candidate begin that has waited long enough, and returns it; nullptr: none may
    // begin now. To be called again when a candidate was removed, and from time to time.
    [[nodiscard]] candidate* next_turn(ucs::time::nanoseconds now) noexcept;
    // The candidate sent a valid first record: silent ones end before it does.
    void prefer(candidate& which) noexcept;
    // The candidate has a turn until `end`, before it has sent anything.
    void start_turn(candidate& which, ucs::time::nanoseconds end) noexcept;
    // Replaces the time at which the candidate has to have proven itself; may be `never`.
    void set_deadline(candidate& which, ucs::time::nanoseconds deadline) noexcept;

    // The candidate that has to end because a limit is exceeded; nullptr: none has to.
    [[nodiscard]] candidate* excess(ucs::time::nanoseconds now) noexcept;
    // The candidate that is worth least, for a caller that is out of descriptors or memory: one
    // that waits, else a silent one, else another one. nullptr: there is none.
    [[nodiscard]] candidate* least() noexcept;
    // A candidate whose time is over; nullptr: none.
    [[nodiscard]] candidate* overdue(ucs::time::nanoseconds now) noexcept;

    // The number of candidates that do not wait.
    [[nodiscard]] std::size_t size() const noexcept { return begun_.size(); }
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
    [[nodiscard]] const admission_limits& limits() const noexcept { return limits_; }

private:
    struct share {
        std::size_t silent = 0;
        std::size_t preferred = 0;
        std::size_t waiting = 0;
        std::size_t turns = 0;
        [[nodiscard]] std::size_t begun() const noexcept { return silent + preferred; }
        [[nodiscard]] bool is_empty() const noexcept { return begun() + waiting == 0; }
    };
    using list = datastruct::counted_list<candidate, &candidate::hook_>;

    void begin(candidate& which, ucs::time::nanoseconds now) noexcept;
    void set_preferred(candidate& which, bool is_preferred) noexcept;
    void end_turn(candidate& which) noexcept;
    void end_turns(ucs::time::nanoseconds now) noexcept;
    [[nodiscard]] bool may_begin(const share& of_origin) const noexcept;
    [[nodiscard]] candidate* oldest(const share& of_origin, bool is_preferred) noexcept;
    [[nodiscard]] candidate* oldest_of_most(bool is_preferred) noexcept;
    [[nodiscard]] candidate* oldest_of_most_waiting() noexcept;

    const admission_limits limits_;
    list begun_;    // in the order in which they began
    list waiting_;  // in the order in which they came
    std::map<origin, share> shares_;
    std::size_t turns_ = 0;                         // of all origins
    ucs::time::nanoseconds next_turn_end_ = never;  // no turn ends before
};

}  // namespace ucs::net
