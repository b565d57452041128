// Runs the collectives of one rank over the memory that the ranks of a node share.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ucg/node/neighbours.hpp"
#include "ucg/node/operation.hpp"
#include "ucg/node/patience.hpp"
#include "ucg/node/watch.hpp"
#include "ucs/time/clock.hpp"

namespace ucg::node {

// One per rank and group. Operations run one after the other, in the order of their starts, and
// each moves on when progress() finds that others have. What does not depend on others is done in
// start(). Owner context; the memory and the watch are borrowed.
//
// When a rank that others wait for is gone, or writes nonsense, or called with other arguments,
// the group is given up: all operations end with an error on every rank, now and later.
class engine {
public:
    // `others`: to read long blocks where they lie; empty, or all ranks allow it (can_read_all).
    // `numa`: for each rank a number of its domain; empty: there is one.
    engine(const segment& memory, watch& lives, rank_t me, const tuning& by = {},
           neighbours others = {}, std::span<const std::uint32_t> numa = {});
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine();

    [[nodiscard]] rank_t rank() const noexcept { return me_; }
    [[nodiscard]] rank_t size() const noexcept { return memory_.ranks(); }
    [[nodiscard]] const segment& memory() const noexcept { return memory_; }
    [[nodiscard]] const tuning& sizes() const noexcept { return sizes_; }
    [[nodiscard]] const domains& who() const noexcept { return who_; }
    [[nodiscard]] const neighbours& others() const noexcept { return others_; }

    // Whether anything moved. Never blocks; while nothing moves it looks every millisecond whether
    // the others live.
    bool progress() noexcept { return progress(1); }
    // The same for somebody who does little else: looks a few times, some ten nanoseconds.
    bool progress_closely() noexcept { return progress(close_looks_); }

    // Starts the operation for somebody who has nothing to do before it ends: what fits a mailbox
    // is done in one go here, if the others come soon. Else it is under way as after start().
    void run(operation& what) noexcept;

    // Drives the group until the operation has ended; gives the processor to others meanwhile.
    ucs_status_t wait(operation& until) noexcept;

    // Ends everything on every rank. For a timeout or a cancel.
    void fail(ucs_status_t why) noexcept;
    // UCS_OK, or why the group was given up.
    [[nodiscard]] ucs_status_t status() const noexcept { return failure_; }

    // The ranks that the first operation waits for now. Empty: it waits for none.
    [[nodiscard]] std::vector<rank_t> missing() const;

private:
    friend class operation;
    // A counter that every rank has, and what is known of it: it never goes back.
    struct counter {
        std::uint64_t control::*where;
        std::vector<std::uint64_t> known;
    };
    enum class seen : std::uint8_t { yes, no, nonsense };

    void start(operation& what) noexcept;
    void begin() noexcept;
    void finish() noexcept;
    bool progress(unsigned looks) noexcept;
    bool step(unsigned looks = 1) noexcept;
    bool step_in_mailbox(unsigned looks) noexcept;
    bool post() noexcept;
    bool step_in_slots() noexcept;
    bool give() noexcept;
    bool work(unsigned turn) noexcept;
    bool take() noexcept;
    void publish(std::uint64_t control::*where, std::uint64_t value) noexcept;
    [[nodiscard]] bool have(counter& all, std::uint64_t value, std::span<const rank_t> of) noexcept;
    [[nodiscard]] seen look_at(counter& all, rank_t rank, std::uint64_t value) noexcept;
    [[nodiscard]] bool has_posted(rank_t rank, unsigned looks) noexcept;
    // The slot where a segment of the first operation begins, counted since the group was made;
    // what the counters say when it is done; and how far all have to be before it is given.
    [[nodiscard]] std::uint64_t slot_of(std::uint64_t segment) const noexcept {
        return base_ + segment * first_->row_;
    }
    [[nodiscard]] std::uint64_t done_with(std::uint64_t segment) const noexcept {
        return slot_of(segment + 1);
    }
    [[nodiscard]] std::uint64_t room_for(std::uint64_t segment) const noexcept;
    [[nodiscard]] bool waits_for(rank_t rank) const noexcept;
    [[nodiscard]] bool agrees(rank_t rank, std::uint64_t entry) noexcept;
    void log_disagreement(rank_t rank, std::uint64_t entry) const noexcept;
    void give_up_as(rank_t other) noexcept;
    void give_up(rank_t because_of, ucs_status_t why, const char* what) noexcept;
    void patrol() noexcept;
    [[nodiscard]] bool is_gone(rank_t rank, bool ask) noexcept;

    const segment& memory_;
    watch& lives_;
    const rank_t me_;
    const domains who_;
    const tuning sizes_;
    const neighbours others_;
    control& mine_;
    patience patience_;
    slot_writer writer_;

    operation* first_ = nullptr;  // the one that runs
    operation* last_ = nullptr;
    std::uint64_t number_ = 0;  // of operations that ended
    std::uint64_t base_ = 0;    // slots that were used before the first segment of this one
    std::uint64_t end_ = 0;  // slots of those that ended: a row begins at a multiple of its length
    std::uint64_t entry_ = 0;
    bool posted_ = false;
    // Segments of this one: through giving and the stages between, and through all.
    std::array<std::uint64_t, 1 + flow::most_works> passed_{};
    std::uint64_t taken_ = 0;
    std::size_t arrived_ = 0;             // so many of those that it waits for have posted
    bool running_ = false;                // its stages, which must not begin again below
    const unsigned looks_, close_looks_;  // of run() and progress_closely(), at each rank

    counter entered_by_{&control::entered, {}};
    std::array<counter, 1 + flow::most_works> passed_by_{
        {{&control::given, {}}, {&control::worked, {}}, {&control::worked_again, {}}}};
    counter taken_by_{&control::taken, {}};

    ucs_status_t failure_ = UCS_OK;
    unsigned fruitless_ = 0;
    ucs::time::nanoseconds last_patrol_ = 0, last_ask_ = 0;
};

}  // namespace ucg::node
