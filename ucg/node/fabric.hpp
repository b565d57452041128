// Messages between the ranks of one node: so every algorithm runs there.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "ucg/node/early_limit.hpp"
#include "ucg/node/early_messages.hpp"
#include "ucg/node/patience.hpp"
#include "ucg/node/stream.hpp"
#include "ucg/node/watch.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::node {

// One ring for each direction of each pair of ranks. A message whose receive is posted goes from
// the ring to its place; one that comes too early is kept aside, in memory that grows only with
// what has really come. When much is kept of one rank, its ring is left alone until something is
// expected of that rank (see wants()); the early_limit bounds what is kept for all groups together.
// One per rank and group; the memory, the watch and the limit are borrowed. Owner context.
class fabric final : public schedule::fabric {
public:
    static constexpr std::size_t usual_early_bytes = 4 << 20;

    // `early_bytes`: what is kept of one rank before its ring is left alone; may be 0.
    fabric(const segment& memory, watch& lives, rank_t me, early_limit& limit,
           std::size_t early_bytes = usual_early_bytes);
    // The others hear that nothing more comes from this rank.
    ~fabric() override;

    [[nodiscard]] rank_t rank() const noexcept override { return me_; }
    [[nodiscard]] rank_t size() const noexcept override { return memory_.ranks(); }
    void post(schedule::step& what) noexcept override;
    void cancel(schedule::step& what) noexcept override;
    [[nodiscard]] ucs_status_t enter(schedule::operation& what,
                                     schedule::sequence_t& number) noexcept override;
    void leave(schedule::operation& what) noexcept override;
    void announce(schedule::operation& what, ucs_status_t why) noexcept override;

    // All that this rank and others need each other for ends with that status, from now on.
    void give_up(ucs_status_t why) noexcept;

    // Whether anything moved. Never blocks; it looks now and then whether those live that something
    // is expected of. While nothing is under way here, only some calls look for
    // messages that come early, because a program may have hundreds of groups.
    bool progress() noexcept;

    // Drives the group until the operation has ended; gives the processor to others meanwhile.
    ucs_status_t wait(schedule::operation& until) noexcept;

    // The ranks that have not begun this operation, which runs here.
    [[nodiscard]] std::vector<rank_t> absent(const schedule::operation& what) const;

    // Memory that messages of a rank take which came too early.
    [[nodiscard]] std::size_t kept_of(rank_t rank) const noexcept { return peers_[rank].used(); }

private:
    using step = schedule::step;

    // Steps in the order in which they were posted, linked by `neighbour`.
    struct queue {
        step* first = nullptr;
        step* last = nullptr;

        void append(step& what) noexcept;
        bool remove(step& what) noexcept;
    };
    // What this rank has to do with one other.
    struct peer final : early_limit::share {
        peer(fabric& all, early_limit& limit, rank_t other)
            : share(limit),
              owner(all),
              rank(other),
              out(all.memory_, all.me_, other),
              in(all.memory_, other, all.me_) {}
        void cut_off() noexcept override { owner.cut_off(*this); }

        fabric& owner;
        const rank_t rank;
        stream_out out;
        queue sends;
        bool begun = false;           // of the first send, or of what is left of a canceled one
        std::uint64_t done = 0;       // bytes of it in the ring
        std::uint64_t abandoned = 0;  // bytes of a canceled send, 0: none
        std::vector<frame> announcements;
        bool sending = false;  // on the stack

        stream_in in;
        queue receives;
        bool coming = false;  // a message of which the head has been read
        frame head{};
        std::uint64_t got = 0;
        step* target = nullptr;                         // where it goes; else
        std::optional<early_messages::position> aside;  // neither: nowhere
        early_messages early;
        bool receiving = false;  // on the stack

        // Returns whether this rank has to do something, so that the other one goes on.
        [[nodiscard]] bool is_busy() const noexcept {
            return sends.first != nullptr || begun || !announcements.empty() || coming ||
                   receives.first != nullptr;
        }

        ucs_status_t lost = UCS_OK;  // why there is nothing to be had from it any more
    };
    struct running {
        schedule::sequence_t number;
        schedule::operation* which;
        bool announced = false;  // that it failed
    };

    bool send(peer& to) noexcept;
    bool send_next(peer& to) noexcept;
    void tell_all(schedule::sequence_t number, ucs_status_t why) noexcept;
    [[nodiscard]] bool wants(const peer& from) const noexcept;
    bool receive(peer& from) noexcept;
    void receive_head(peer& from);
    void receive_some(peer& from);
    void drop_aside(peer& from) noexcept;
    void cut_off(peer& from) noexcept;
    void end_message(peer& from) noexcept;
    void post_receive(step& what) noexcept;
    void take_early(peer& from, early_messages::position found, step& receive) noexcept;
    void hear(const frame& said) noexcept;
    [[nodiscard]] std::uint64_t& begun_by(rank_t rank, schedule::series of) const noexcept;
    [[nodiscard]] running* find(schedule::sequence_t number) noexcept;
    void lose(peer& which, ucs_status_t why) noexcept;
    void patrol() noexcept;
    [[nodiscard]] bool is_resting() noexcept;

    const segment& memory_;
    watch& lives_;
    const rank_t me_;
    early_limit& limit_;
    const std::size_t early_bytes_;
    patience patience_;
    std::deque<peer> peers_;
    schedule::numbering numbers_;
    std::vector<running> running_;
    std::vector<frame> told_;
    unsigned looks_ = 0;   // calls that looked at the rings
    bool rests_ = false;   // nothing was under way at the last look
    unsigned rested_ = 0;  // calls since then
    ucs::time::nanoseconds last_patrol_ = 0;
    ucs_status_t leaves_for_ = UCS_ERR_CONNECTION_RESET;  // what others are told who need it later
};

}  // namespace ucg::node
