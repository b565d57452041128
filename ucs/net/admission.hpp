// The policy for unauthenticated connections: which ones are served, which ones wait, and which one
// is closed when there are too many.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/net/ip_address.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/status.h"

namespace ucs::net {

// One source for quotas. An IPv4 address is one source. An IPv6 prefix of 64 bits is one source,
// because a host chooses the other 64 bits freely. Over a Unix socket the source is the user at the
// other end. Value type, any thread.
class origin {
public:
    origin() noexcept = default;  // unknown: all unknown origins count as one
    [[nodiscard]] static origin host(const ip_address& ip) noexcept;
    [[nodiscard]] static origin user(uid_t uid) noexcept;
    // Returns the origin of the peer of a connected socket, as the kernel reports it.
    [[nodiscard]] static origin of_peer(int socket) noexcept;

    auto operator<=>(const origin&) const noexcept = default;

private:
    enum class kind : std::uint8_t { unknown, ipv4, ipv6, link_local, user };
    origin(kind of_kind, std::uint64_t number) noexcept : kind_(of_kind), number_(number) {}

    kind kind_ = kind::unknown;
    std::uint64_t number_ = 0;
};

// Returns the limit of descriptors (RLIMIT_NOFILE) divided by `divisor`, but no less than `least`
// and no more than `most`.
[[nodiscard]] inline std::size_t descriptor_share(std::size_t divisor, std::size_t least,
                                                  std::size_t most) noexcept {
    constexpr std::size_t usual_limit = 1024;
    rlimit allowed{};
    const bool is_known = ::getrlimit(RLIMIT_NOFILE, &allowed) == 0;
    const std::size_t limit = is_known ? allowed.rlim_cur : usual_limit;
    return std::clamp(limit / divisor, least, most);
}

struct admission_limits {
    std::size_t most = 0;                      // total of candidates that do not wait
    std::size_t most_per_origin = 0;           // candidates of one origin that do not wait
    ucs::time::nanoseconds time_to_prove = 0;  // counted from the start of the candidate
    // For peers that need one more round trip to authenticate: how long a valid first record
    // protects the candidate, counted from its start, and how many more candidates may wait for
    // their turn. 0: a first record protects the candidate until it has authenticated or its
    // deadline passes, and no candidate waits.
    ucs::time::nanoseconds turn_length = 0;
    std::size_t most_waiting = 0;
};

// All listening sockets share this policy. A connection is a candidate from its acceptance until
// its peer has authenticated. A new candidate is always added, and the caller then closes the
// candidates that excess() returns:
//   1. If an origin has more candidates than its quota, a candidate of this origin is closed.
//   2. Otherwise, if there are too many in total, a candidate of the origin with the most of them
//      is closed. If several origins have equally many, it is the oldest of all their candidates.
//   3. A silent candidate is closed before one that sent a valid first record, unless the silent
//      ones are fewer than an eighth of the limit. The older one is closed first.
//   4. With `turn_length`, a candidate has a turn from its first record until it authenticates or
//      its time is over; then it counts as silent. All turns together take three quarters of the
//      limit. An origin may have turns for half of its quota, but no more than are left for others.
//      Further candidates of an origin that has used its turns wait, unread, until a turn ends. The
//      next one to begin is the first of the origin with the fewest turns.
//   5. If too many wait, the oldest one of the origin with the most waiting candidates is closed.
// A flood of connections therefore displaces and delays only its own connections, and a peer that
// sends its first record promptly is served at once, however many others are silent.
// The class does no input or output and knows no sockets. Owner context.
class admission {
    struct share;  // the candidates of one origin

public:
    // A connection whose peer has not authenticated yet. Users derive from it. The destructor
    // removes it from the admission, which must outlive it.
    class candidate {
    public:
        candidate() noexcept = default;
        ~candidate() { leave(); }
        candidate(const candidate&) = delete;
        candidate& operator=(const candidate&) = delete;

        [[nodiscard]] bool is_added() const noexcept { return owner_ != nullptr; }
        // Returns whether the candidate was added and waits for its turn; the caller must not read
        // from it.
        [[nodiscard]] bool is_waiting() const noexcept { return is_waiting_; }
        // Returns whether the candidate sent a valid first record and is still protected by it.
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

    // Adds a candidate, which begins at once or waits. Returns UCS_ERR_NO_MEMORY if it was not
    // added.
    [[nodiscard]] ucs_status_t add(candidate& fresh, const origin& from,
                                   ucs::time::nanoseconds now) noexcept;
    // Removes a candidate that has authenticated or whose connection ended. Does nothing if it was
    // not added.
    void remove(candidate& which) noexcept;
    // Starts the next waiting candidate that may begin, and returns it; nullptr if none may begin
    // now. The caller must repeat the call after it removes a candidate, and from time to time.
    [[nodiscard]] candidate* next_turn(ucs::time::nanoseconds now) noexcept;
    // Records that the candidate sent a valid first record: silent candidates are closed before it.
    void prefer(candidate& which) noexcept;
    // Gives the candidate a turn until `end`, before it has sent anything.
    void start_turn(candidate& which, ucs::time::nanoseconds end) noexcept;
    // Replaces the time by which the candidate must authenticate; may be `never`.
    void set_deadline(candidate& which, ucs::time::nanoseconds deadline) noexcept;

    // Returns a candidate that the caller must close because a limit is exceeded; nullptr if none
    // is.
    [[nodiscard]] candidate* excess(ucs::time::nanoseconds now) noexcept;
    // Returns the candidate of the lowest value, for a caller that is out of descriptors or memory:
    // a waiting one if there is one, otherwise a silent one, otherwise any. nullptr if there is
    // none.
    [[nodiscard]] candidate* least() noexcept;
    // Returns a candidate whose deadline has passed, or nullptr.
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
    list begun_;    // in the order of their start
    list waiting_;  // in the order of their arrival
    std::map<origin, share> shares_;
    std::size_t turns_ = 0;                         // of all origins
    ucs::time::nanoseconds next_turn_end_ = never;  // no turn ends before this time
};

}  // namespace ucs::net
