// The engine runs the collectives of one rank over the memory that the ranks of a node share.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ucg/node/engine/local_peers.hpp"
#include "ucg/node/engine/operation.hpp"
#include "ucg/node/engine/watch.hpp"
#include "ucg/node/sleeper.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::node {

// Each rank has one engine per group. Operations run one after the other, in the order of their
// starts. An operation advances when progress() finds that the other ranks have advanced; start()
// does the part that does not depend on other ranks. Owner context; the caller owns the memory and
// the watch, which outlive the engine.
//
// The engine fails the group when a rank that others wait for is gone, writes invalid counters, or
// calls with other arguments. Then all operations end with an error on every rank, now and later.
class engine {
public:
    // `peers`: the processes whose memory may be read where long blocks lie; either empty, or every
    // rank allows it (can_read_all). `numa_nodes`: the number of each rank's NUMA node; empty:
    // there is one domain.
    engine(const shared_memory& memory, watch& lives, rank_t me, const tuning& params = {},
           local_peers peers = {}, std::span<const std::uint32_t> numa_nodes = {});
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine();

    [[nodiscard]] rank_t rank() const noexcept { return me_; }
    [[nodiscard]] rank_t size() const noexcept { return memory_.ranks(); }
    [[nodiscard]] const shared_memory& memory() const noexcept { return memory_; }
    [[nodiscard]] const tuning& params() const noexcept { return params_; }
    [[nodiscard]] const numa_domains& domains() const noexcept { return domains_; }
    [[nodiscard]] const local_peers& peers() const noexcept { return peers_; }

    // Returns whether anything advanced. Never blocks; while nothing advances, it checks every
    // millisecond whether the other ranks live.
    bool progress() noexcept { return progress(1); }
    // Does the same for a caller that does little else: it polls a few times, for some tens of
    // nanoseconds.
    bool progress_closely() noexcept { return progress(close_polls_); }

    // Starts the operation for a caller that has nothing to do until it ends. An operation that
    // fits a mailbox completes in this call if the other ranks come soon. Otherwise it is under way
    // as after start().
    void run(operation& op) noexcept;

    // Makes progress until the operation has ended, and yields the processor to others meanwhile.
    ucs_status_t wait(operation& op) noexcept;

    // Ends all operations on every rank, for a timeout or a cancel.
    void fail(ucs_status_t why) noexcept;
    // Returns UCS_OK, or why the group failed.
    [[nodiscard]] ucs_status_t status() const noexcept { return failure_; }

    // Returns the ranks that the first operation waits for now; empty if it waits for none.
    [[nodiscard]] std::vector<rank_t> missing() const;

private:
    friend class operation;
    // One counter of each rank's control, with the last value that was read of it. A counter never
    // decreases.
    struct counter {
        std::uint64_t control::*member;
        std::vector<std::uint64_t> last_seen;
    };
    enum class reached : std::uint8_t { yes, no, invalid };

    void start(operation& op) noexcept;
    void begin() noexcept;
    void finish() noexcept;
    bool progress(unsigned polls) noexcept;
    bool step(unsigned polls = 1) noexcept;
    bool step_in_mailbox(unsigned polls) noexcept;
    bool post() noexcept;
    bool step_in_slots() noexcept;
    bool give() noexcept;
    bool work(unsigned turn) noexcept;
    bool take() noexcept;
    void publish(std::uint64_t control::*member, std::uint64_t value) noexcept;
    [[nodiscard]] bool have_all_reached(counter& counters, std::uint64_t value,
                                        std::span<const rank_t> ranks) noexcept;
    [[nodiscard]] reached check_counter(counter& counters, rank_t rank,
                                        std::uint64_t value) noexcept;
    [[nodiscard]] bool has_posted(rank_t rank, unsigned polls) noexcept;
    // slot_of() is the slot where a segment of the first operation begins, counted since the group
    // was made. done_with() is the value of the counters when the segment is done.
    // taken_before_reuse() is the value that `taken` of all ranks must reach before this rank may
    // give the segment.
    [[nodiscard]] std::uint64_t slot_of(std::uint64_t segment) const noexcept {
        return base_ + segment * first_->row_;
    }
    [[nodiscard]] std::uint64_t done_with(std::uint64_t segment) const noexcept {
        return slot_of(segment + 1);
    }
    [[nodiscard]] std::uint64_t taken_before_reuse(std::uint64_t segment) const noexcept;
    [[nodiscard]] bool is_waiting_for(rank_t rank) const noexcept;
    [[nodiscard]] bool has_same_call(rank_t rank, std::uint64_t entry) noexcept;
    void log_mismatch(rank_t rank, std::uint64_t entry) const noexcept;
    void fail_because_of_peer(rank_t peer) noexcept;
    void fail_group(rank_t because_of, ucs_status_t why, const char* reason) noexcept;
    void check_peers() noexcept;
    [[nodiscard]] bool is_gone(rank_t rank, bool ask_kernel) noexcept;

    const shared_memory& memory_;
    watch& lives_;
    const rank_t me_;
    const numa_domains domains_;
    const tuning params_;
    const local_peers peers_;
    control& control_;
    ucs::arch::backoff backoff_;
    const sleeper sleeper_;
    slot_writer writer_;

    operation* first_ = nullptr;  // the running operation
    operation* last_ = nullptr;
    std::uint64_t number_ = 0;  // of the first operation: how many ended before it
    std::uint64_t base_ = 0;    // slot where the first segment of this operation begins
    std::uint64_t end_ = 0;  // end of the slots of the operations that ended; base_ is rounded up
                             // from it, because a row begins at a multiple of its length
    std::uint64_t entry_ = 0;
    bool posted_ = false;
    // Segments of this operation that have passed give and each work stage, and those that have
    // passed all stages.
    std::array<std::uint64_t, 1 + stage_plan::max_work_stages> passed_{};
    std::uint64_t taken_ = 0;
    std::size_t arrived_ = 0;             // how many of the awaited ranks have posted
    bool running_ = false;                // a listener runs: stages must not start below it
    const unsigned polls_, close_polls_;  // of each rank, by run() and progress_closely()

    counter entered_by_peers_{&control::entered, {}};
    std::array<counter, 1 + stage_plan::max_work_stages> passed_by_peers_{
        {{&control::given, {}}, {&control::worked, {}}, {&control::worked_again, {}}}};
    counter taken_by_peers_{&control::taken, {}};

    ucs_status_t failure_ = UCS_OK;
    unsigned idle_polls_ = 0;
    ucs::time::nanoseconds last_peer_check_ = 0, last_liveness_check_ = 0;
};

}  // namespace ucg::node
