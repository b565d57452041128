// Many ranks in one process, in virtual time.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/sim/event_queue.hpp"
#include "ucg/sim/machine.hpp"
#include "ucg/sim/meeting.hpp"
#include "ucg/sim/message.hpp"
#include "ucg/sim/path.hpp"
#include "ucs/time/clock.hpp"
#include "uct/sim/random.hpp"

namespace ucg::sim {

// One direction of a place that messages pass one after the other.
struct port {
    time_t free = 0;          // when the last message so far has passed
    std::uint64_t bytes = 0;  // as carried
    double charged = 0;       // by machine::weight
    std::uint64_t messages = 0;
};

class network;

// One rank: its fabric, its processor and its ports inside the node. Owned by the network.
class rank_fabric final : public schedule::fabric {
public:
    rank_fabric(network& within, rank_t rank) noexcept : net_(within), rank_(rank) {}

    [[nodiscard]] rank_t rank() const noexcept override { return rank_; }
    [[nodiscard]] rank_t size() const noexcept override;
    [[nodiscard]] const schedule::placement* where() const noexcept override;
    void post(schedule::step& what) noexcept override;
    void cancel(schedule::step& what) noexcept override;
    [[nodiscard]] ucs_status_t enter(schedule::operation& what,
                                     schedule::sequence_t& number) noexcept override;
    void leave(schedule::operation& what) noexcept override;
    void announce(schedule::operation& what, ucs_status_t why) noexcept override;

    // Until when its processor is busy, and why: at the end of an operation, when that was.
    [[nodiscard]] time_t clock() const noexcept { return clock_; }
    [[nodiscard]] const path& how() const noexcept { return how_; }
    [[nodiscard]] bool dead() const noexcept { return dead_; }

private:
    friend class network;
    struct running {
        schedule::sequence_t number;
        schedule::operation* which;
    };
    struct told {
        schedule::sequence_t number;
        ucs_status_t why;
    };
    void work(schedule::step& what) noexcept;
    void meet(schedule::step& what) noexcept;
    [[nodiscard]] bool misses(const meeting& of) const noexcept;
    void withdraw(schedule::step& from, ucs_status_t why) noexcept;
    void send(schedule::step& what) noexcept;
    void receive(schedule::step& what) noexcept;
    void append_posted(schedule::step& what) noexcept;
    bool remove_posted(schedule::step& what) noexcept;
    schedule::step* match_posted(const message& with) noexcept;
    void take_in(message* what, schedule::step& into) noexcept;
    void end(schedule::step& which) noexcept;
    void succeed(schedule::step& which) noexcept;
    [[nodiscard]] schedule::operation* find(schedule::sequence_t number) const noexcept;
    void hear(schedule::sequence_t number, ucs_status_t why) noexcept;
    void notice_death(rank_t of) noexcept;
    void leave_meetings() noexcept;

    network& net_;
    const rank_t rank_;
    bool dead_ = false;
    bool noticed_ = false;  // the others know that it died
    time_t clock_ = 0;
    path how_;
    port out_;
    port in_;
    schedule::step* posted_ = nullptr;  // receives that no message has matched, oldest first
    schedule::step* last_posted_ = nullptr;
    message_list unexpected_;
    schedule::numbering numbers_;
    std::vector<running> running_;
    std::vector<told> told_;
};

// All ranks, their links and what happens. The processor of a rank may be ahead of the events: what
// it does alone needs none. One thread.
//
// A message takes: send overhead; the wait for the sender's port and bytes / bandwidth on it; the
// latency, counted from the first byte; the same bytes through the receiver's port, of which the
// first enters while the last is still on its way; receive overhead. One that comes before its
// receive waits at no cost.
//
// A collective of a node begins when the last of its ranks has asked and all have time, and keeps
// all of them busy.
class network {
public:
    explicit network(const machine& like);

    [[nodiscard]] const machine& like() const noexcept { return like_; }
    [[nodiscard]] const schedule::placement& where() const noexcept { return where_; }
    [[nodiscard]] rank_fabric& of(rank_t rank) noexcept { return ranks_[rank]; }
    [[nodiscard]] schedule::frame_pool& frames() noexcept { return frames_; }

    // Lets everything happen, until nothing is left to happen.
    void run();

    // What a clock of the rank says that has asked for something last or goes on now. ns.
    [[nodiscard]] ucs::time::nanoseconds now() const noexcept {
        constexpr time_t per_nanosecond = 1000;
        return ranks_[active_].clock() / per_nanosecond;
    }

    // The rank dies at that time (ns of virtual time); its operations never end.
    void kill(rank_t rank, double when);

    // The least time that all processors have in common: everybody starts the next operation then.
    void align() noexcept;

    [[nodiscard]] rank_t nodes() const noexcept { return static_cast<rank_t>(nodes_out_.size()); }
    [[nodiscard]] const port& node_out(rank_t node) const noexcept { return nodes_out_[node]; }
    [[nodiscard]] const port& node_in(rank_t node) const noexcept { return nodes_in_[node]; }
    [[nodiscard]] std::uint64_t bytes_inside() const noexcept;
    [[nodiscard]] double charged_inside() const noexcept;
    [[nodiscard]] std::uint64_t messages_inside() const noexcept;
    [[nodiscard]] std::uint64_t events() const noexcept { return order_; }

private:
    friend class rank_fabric;
    struct link_times {
        time_t latency, send_overhead, receive_overhead, gap;
        double per_byte;
    };
    static link_times times_of(const link_parameters& link) noexcept;
    [[nodiscard]] rank_t node_of(rank_t rank) const noexcept { return where_.node_of(rank); }
    [[nodiscard]] bool is_between(const message& m) const noexcept {
        return node_of(m.source) != node_of(m.target);
    }
    [[nodiscard]] const link_times& times(bool between) const noexcept {
        return between ? between_ : inside_;
    }
    void add(happening what, time_t when, rank_t rank, message* subject = nullptr,
             schedule::step* which = nullptr);
    void happen(const event& now);
    void inject(message& m, time_t ready);
    void end_send(message& m, time_t when);
    [[nodiscard]] time_t disorder(const message& m, time_t reach);
    void drop(message* m) noexcept;
    time_t pass(port& through, const message& m, const link_times& link, time_t ready) noexcept;
    void reach(message* m);
    void deliver(message* m, schedule::step& into);
    void begin(meeting& of, rank_t last);
    void finish(schedule::step& of, rank_t rank);
    void leave(meeting& of, rank_t rank) noexcept;

    const machine like_;
    const schedule::placement where_;
    const schedule::node_price node_price_;
    const link_times inside_;
    const link_times between_;
    const bool shared_ports_;
    uct::sim::random random_;
    event_queue queue_;
    message_pool messages_;
    schedule::frame_pool frames_;
    std::deque<rank_fabric> ranks_;
    std::vector<port> nodes_out_;
    std::vector<port> nodes_in_;
    std::vector<std::list<meeting>> meetings_;              // of each node, oldest first
    std::unordered_map<std::uint64_t, time_t> last_reach_;  // by pair of ranks, for delays in order
    std::unordered_set<schedule::sequence_t> announced_;
    time_t now_ = 0;
    rank_t active_ = 0;
    std::uint64_t order_ = 0;
};

}  // namespace ucg::sim
