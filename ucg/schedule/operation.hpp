// A collective of one rank that can be started again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ucg/schedule/arena.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/schedule/member.hpp"
#include "ucg/schedule/program.hpp"
#include "ucg/schedule/task.hpp"

namespace ucg::schedule {

struct algorithm;

// Owned by whoever asked for the collective; not to be destroyed while it runs, unless its fabric
// is gone with all steps. Owner context.
class operation {
public:
    // Told when the operation ended; may start it again or destroy it.
    using listener = void (*)(operation& ended, void* argument);

    operation(fabric& over, frame_pool& frames, series numbered = series::program) noexcept
        : fabric_(over), frames_(frames), series_(numbered) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    ~operation() = default;

    // Prepares `what` by an algorithm that fits() it: allocates all memory that it needs but the
    // frames, which stay in the pool after the first time. UCS_ERR_NO_MEMORY. What `what` points to
    // must stay there; buffers may be replaced between two starts (arguments()).
    [[nodiscard]] ucs_status_t init(const algorithm& by, const call& what) noexcept;
    // Prepares something else than a collective, which outlives the operation.
    void init(program& what) noexcept;
    [[nodiscard]] call& arguments() noexcept { return call_; }

    // Begins it. All ranks start the operations of a series in the same order. Not while it runs.
    void start() noexcept;

    // In place of start(): it takes its number, and has failed on every rank.
    void start_failed(ucs_status_t why) noexcept;

    // UCS_INPROGRESS; else how the last start ended: UCS_OK, or the first error, after which the
    // content of the output is undefined.
    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }
    [[nodiscard]] sequence_t number() const noexcept { return number_; }
    [[nodiscard]] series numbered() const noexcept { return series_; }
    void on_end(listener told, void* argument) noexcept;

    // The ranks that it waits for now, of which a message has not come: for who gives up waiting.
    // In the order of numbers, each once.
    [[nodiscard]] std::vector<rank_t> missing() const;
    // The same of those that have not taken what this one sends.
    [[nodiscard]] std::vector<rank_t> unsent() const { return peers_of(action::send); }
    [[nodiscard]] bool waits_for(rank_t rank) const noexcept;

    // Ends it with an error on every rank: as soon as the fabric lets go of its memory. Nothing
    // happens when it does not run.
    void fail(ucs_status_t why) noexcept;
    // The same where another rank announced it.
    void fail_as_told(ucs_status_t why) noexcept;

    // A step ended; called by the fabric, once for each post(). May resume the algorithm, which may
    // post further steps before this returns.
    void complete(step& ended, ucs_status_t status) noexcept;

    // For steps and tasks.
    [[nodiscard]] const fabric& over() const noexcept { return fabric_; }
    void post(step& what) noexcept;
    [[nodiscard]] bool failed() const noexcept { return failure_ != UCS_OK; }
    // Whether its algorithm does something together with the ranks of its node.
    [[nodiscard]] bool uses_nodes() const noexcept;
    [[nodiscard]] frame_pool& frames() noexcept { return frames_; }
    [[nodiscard]] arena& scratch() noexcept { return scratch_; }

private:
    [[nodiscard]] std::vector<rank_t> peers_of(action which) const;
    void settle() noexcept;
    void link(step& what) noexcept;
    void unlink(step& what) noexcept;

    fabric& fabric_;
    frame_pool& frames_;
    const series series_;
    const algorithm* by_ = nullptr;
    program* program_ = nullptr;  // instead of `by_`
    call call_;
    member me_{*this, 0, 0};
    std::vector<std::uint64_t> places_;  // of a reduce_scatter's blocks
    std::unique_ptr<std::byte[]> memory_;
    arena scratch_;

    sequence_t number_ = 0;
    ucs_status_t status_ = UCS_OK;
    ucs_status_t failure_ = UCS_OK;
    unsigned busy_ = 0;  // functions of this class on the stack: nothing is destroyed below them
    step* under_way_ = nullptr;
    gate end_;
    task root_;
    listener told_ = nullptr;
    void* told_argument_ = nullptr;
};

}  // namespace ucg::schedule
