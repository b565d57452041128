// The simulated network: many ranks in one process, in virtual time.
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
#include "ucg/sim/machine.hpp"
#include "ucg/sim/message.hpp"
#include "ucg/sim/node_collective.hpp"
#include "ucg/sim/trace.hpp"
#include "ucs/datastruct/event_queue.hpp"
#include "ucs/random/seeded.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::sim {

enum class event_kind : std::uint8_t {
    inject,             // a message reaches the sender's port
    reach,              // the first byte reaches the receiver's port
    deliver,            // the message is complete, and its receive is posted
    end_step,           // a step ends
    begin_collective,   // the last rank of a node has called a node collective
    finish_collective,  // a node collective ends on one rank
    notify_failure,     // a rank is notified that an operation failed on another rank
    die,                // a rank dies
    detect_death,       // the other ranks detect the death
};

struct event {
    time_t when;
    std::uint64_t order;  // insertion number: events of equal time keep their order
    message* subject;
    schedule::step* step;
    rank_t rank;
    event_kind kind;
};

// One direction of a port, which messages pass one after the other.
struct port {
    time_t free = 0;          // when the port becomes free
    std::uint64_t bytes = 0;  // in memory
    double charged = 0;       // multiplied by machine::weight
    std::uint64_t messages = 0;
};

class network;

// One rank: its fabric, its processor and its ports inside the node. Owned by the network.
class rank_fabric final : public schedule::fabric {
public:
    rank_fabric(network& net, rank_t rank) noexcept : net_(net), rank_(rank) {}

    [[nodiscard]] rank_t rank() const noexcept override { return rank_; }
    [[nodiscard]] rank_t size() const noexcept override;
    [[nodiscard]] const schedule::placement* node_placement() const noexcept override;
    void post(schedule::step& step) noexcept override;
    void cancel(schedule::step& step) noexcept override;
    [[nodiscard]] ucs_status_t begin_operation(schedule::operation& operation,
                                               schedule::sequence_t& number) override;
    void end_operation(schedule::operation& operation) noexcept override;
    void report_failure(schedule::operation& operation, ucs_status_t why) noexcept override;

    // The time until which the rank's processor is busy, and the critical path up to that time. At
    // the end of an operation this is the time when it ended.
    [[nodiscard]] time_t clock() const noexcept { return clock_; }
    [[nodiscard]] const path& critical_path() const noexcept { return critical_path_; }
    [[nodiscard]] bool is_dead() const noexcept { return is_dead_; }

private:
    friend class network;
    struct running {
        schedule::sequence_t number;
        schedule::operation* operation;
    };
    struct early_failure {
        schedule::sequence_t number;
        ucs_status_t why;
    };
    void work(schedule::step& step) noexcept;
    void call_node_collective(schedule::step& step) noexcept;
    [[nodiscard]] bool waits_for_dead(const node_collective& collective) const noexcept;
    void withdraw_step(schedule::step& step, ucs_status_t why) noexcept;
    void send(schedule::step& step) noexcept;
    void receive(schedule::step& step) noexcept;
    schedule::step* match_posted(const message& m) noexcept;
    void take_in(message* m, schedule::step& receive) noexcept;
    void end(schedule::step& step) noexcept;
    void succeed(schedule::step& step) noexcept;
    [[nodiscard]] schedule::operation* find(schedule::sequence_t number) const noexcept;
    void note_failure(schedule::sequence_t number, ucs_status_t why) noexcept;
    void notice_death(rank_t victim) noexcept;
    void leave_node_collectives() noexcept;

    network& net_;
    const rank_t rank_;
    bool is_dead_ = false;
    bool is_death_detected_ = false;  // the other ranks have detected its death
    time_t clock_ = 0;
    path critical_path_;
    port out_;
    port in_;
    schedule::step_queue posted_;  // unmatched receives, oldest first
    message_list unexpected_;
    schedule::sequence_numbers numbers_;
    std::vector<running> running_;
    std::vector<early_failure> early_failures_;
};

// All ranks, their links and the events. A rank's processor may be ahead of the events, because its
// local work needs none. Single-threaded.
//
// A message takes the send overhead; the wait for the sender's port, and bytes / bandwidth there;
// the latency, counted from the first byte; the same bytes through the receiver's port, where the
// first byte enters while the last is still in flight; and the receive overhead. A message that
// arrives before its receive waits at no cost.
//
// A node collective begins when its last rank has called and the processors of all its ranks are
// free. It keeps all of them busy.
class network {
public:
    explicit network(const machine& spec);

    [[nodiscard]] const machine& spec() const noexcept { return spec_; }
    [[nodiscard]] const schedule::placement& placement() const noexcept { return placement_; }
    [[nodiscard]] rank_fabric& fabric(rank_t rank) noexcept { return ranks_[rank]; }
    [[nodiscard]] schedule::frame_pool& frames() noexcept { return frames_; }

    // Processes events until none is left.
    void run();

    // The clock, in ns, of the rank that posted or resumed last.
    [[nodiscard]] ucs::time::nanoseconds now() const noexcept {
        constexpr time_t per_nanosecond = 1000;
        return ranks_[active_].clock() / per_nanosecond;
    }

    // Makes the rank die at virtual time `when` (ns). Its operations never end.
    void kill(rank_t rank, double when);

    // Sets the clocks of all living ranks to the latest of them, so that all ranks start the next
    // operation at that time.
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
    [[nodiscard]] rank_t node_of(rank_t rank) const noexcept { return placement_.node_of(rank); }
    [[nodiscard]] bool is_between(const message& m) const noexcept {
        return node_of(m.source) != node_of(m.target);
    }
    [[nodiscard]] const link_times& times(bool between) const noexcept {
        return between ? between_ : inside_;
    }
    void add(event_kind kind, time_t when, rank_t rank, message* subject = nullptr,
             schedule::step* step = nullptr);
    void process(const event& event);
    void inject(message& m, time_t ready);
    void end_send(message& m, time_t when);
    [[nodiscard]] time_t disorder(const message& m, time_t reach);
    void drop(message* m) noexcept;
    time_t pass(port& through, const message& m, const link_times& link, time_t ready) noexcept;
    void reach(message* m);
    void deliver(message* m, schedule::step& receive);
    void begin(node_collective& collective, rank_t last);
    void finish(schedule::step& step, rank_t rank);
    void leave(node_collective& collective, rank_t rank) noexcept;

    const machine spec_;
    const schedule::placement placement_;
    const schedule::node_cost_params node_price_;
    const link_times inside_;
    const link_times between_;
    const bool shared_ports_;
    ucs::sys::random random_;
    ucs::datastruct::event_queue<event> queue_;
    message_pool messages_;
    schedule::frame_pool frames_;
    std::deque<rank_fabric> ranks_;
    std::vector<port> nodes_out_;
    std::vector<port> nodes_in_;
    std::vector<std::list<node_collective>> node_collectives_;  // of each node, oldest first
    std::unordered_map<std::uint64_t, time_t> last_reach_;      // by pair of ranks, so that delayed
                                                                // messages stay in order
    std::unordered_set<schedule::sequence_t> reported_failures_;
    time_t now_ = 0;
    rank_t active_ = 0;
    std::uint64_t order_ = 0;
};

}  // namespace ucg::sim
