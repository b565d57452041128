// Use of the slots of all ranks by a collective, segment by segment, and the choice of its method.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <memory_resource>
#include <span>

#include "ucg/node/memory/shared_memory.hpp"
#include "ucg/node/memory/slot_writer.hpp"
#include "ucg/node/patterns/numa_domains.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/schedule/link_cost.hpp"
#include "ucs/arch/copy.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

class local_peers;
using schedule::call;

// The buffers that hold one segment of each rank: mailboxes or slots.
class segment_buffers {
public:
    segment_buffers(const shared_memory& memory, std::uint64_t mailbox) noexcept
        : memory_(memory), writer_(nullptr), number_(mailbox) {}
    segment_buffers(const shared_memory& memory, slot_writer& writer, std::uint64_t slot) noexcept
        : memory_(memory), writer_(&writer), number_(slot) {}

    [[nodiscard]] std::byte* data(rank_t rank) const noexcept {
        return writer_ == nullptr ? memory_.mailbox_content(rank, number_)
                                  : memory_.slot(rank, number_);
    }
    // Copies into a buffer of the own rank, which others read soon. If `bytes` is 0, `from` may be
    // null.
    void put(std::byte* into, const std::byte* from, std::size_t bytes) const noexcept {
        if (writer_ != nullptr)
            writer_->put(into, from, bytes);
        else if (bytes != 0)
            std::memcpy(into, from, bytes);
    }
    // Returns whether put() uses non-temporal stores now.
    [[nodiscard]] bool is_nontemporal() const noexcept {
        return writer_ != nullptr && writer_->is_nontemporal();
    }

private:
    const shared_memory& memory_;
    slot_writer* writer_;  // nullptr: the segment is in mailboxes
    std::uint64_t number_;
};

// A segment passes these stages: give, `work_stages` times work, take. All members except the last
// two are the same on every rank.
struct stage_plan {
    static constexpr unsigned max_work_stages = 2;

    std::uint64_t segments = 1;
    std::size_t bytes = 0;  // a rank puts at most this many into a slot
    unsigned work_stages = 0;
    // For each stage after give, the ranks that must have passed the stage before. Valid for as
    // long as the pattern.
    std::array<std::span<const rank_t>, 1 + max_work_stages> awaits;
    bool has_take = true;  // false: this rank takes nothing
};

struct tuning : schedule::node_segments {
    // If a rank would read at most this many bytes of others in an allreduce (or reduce), every
    // rank (the root) reduces everything, with one synchronization. Above, each rank reduces a
    // part.
    std::size_t direct_bytes = 32 * 1024;
    // Up to this many ranks reduce everything up to `direct_ranks_bytes` of vector. Between two
    // ranks both methods copy as much, but the direct one reads each input twice, which costs time
    // if the input is no longer in a cache.
    rank_t direct_ranks = 2;
    std::size_t direct_ranks_bytes = 4 << 20;
    // A result of at least this many bytes is written past the caches, which it would only sweep; a
    // shorter one too, if a core's part of the cache is smaller. A reduction does so earlier,
    // because its inputs sweep the caches as well.
    std::size_t nontemporal_bytes = 32 << 20;
    std::size_t nontemporal_sum_bytes = 8 << 20;
    // A rank reads a block of at least `single_copy_bytes` straight from its owner's buffer if the
    // system allows it. If all blocks have `max_single_copy_bytes` or more, copying past the caches
    // is faster.
    std::size_t single_copy_bytes = std::numeric_limits<std::size_t>::max();
    std::size_t max_single_copy_bytes = 32 << 20;
    // If a vector (all blocks) has at least this many bytes, each NUMA domain has a level of its
    // own.
    std::size_t domain_bytes = 64 * 1024;
    slot_writer::limits writing;
    // Bytes that are reduced at a time if the result is copied to two places.
    std::size_t block = 16 * 1024;
};

// Returns the most bytes of a long segment.
[[nodiscard]] inline std::size_t longest_segment(const geometry& layout,
                                                 const tuning& params) noexcept {
    return std::min(params.long_segment, layout.longest_segment());
}
// Returns the most bytes of a segment of a vector of `bytes` with elements of size `element`.
[[nodiscard]] std::size_t segment_for(std::size_t bytes, std::size_t element,
                                      const geometry& layout, const tuning& params) noexcept;

// One collective of one rank. Each segment passes the stages in order; give() of a segment may come
// before take() of the previous one. A pattern never waits: the engine calls a stage when it can
// run. A malicious rank may change the bytes that it gave at any time, so nothing read from them is
// used as a length or an offset. Lies in a pattern_memory. Owner context.
class pattern {
public:
    pattern(const call& args, const numa_domains& domains) noexcept
        : args_(args), domains_(domains), me_(domains.me()), ranks_(domains.ranks()) {}
    pattern(const pattern&) = delete;
    pattern& operator=(const pattern&) = delete;
    virtual ~pattern() = default;

    [[nodiscard]] const stage_plan& plan() const noexcept { return plan_; }
    // The method in a few words, for people.
    [[nodiscard]] virtual const char* description() const noexcept { return "copied"; }

    // Puts the segment into the own buffer, where others read it.
    virtual void give(std::uint64_t segment, const segment_buffers& buffers) noexcept = 0;
    // Puts a part of the result into the own slot, or reads data that others have not put into
    // theirs. `turn` counts the work stages from 0. An error ends the group.
    [[nodiscard]] virtual ucs_status_t work(unsigned /*turn*/, std::uint64_t /*segment*/,
                                            const segment_buffers&) noexcept {
        return UCS_OK;
    }
    virtual void take(std::uint64_t segment, const segment_buffers& buffers) noexcept = 0;

protected:
    [[nodiscard]] std::span<const rank_t> root() const noexcept { return {&args_.root, 1}; }
    // await_all(): this rank takes, and waits for all others. take_nothing(): this rank takes
    // nothing.
    void await_all() noexcept { plan_.awaits[plan_.work_stages] = domains_.peers(); }
    void take_nothing() noexcept {
        plan_.awaits[plan_.work_stages] = {};
        plan_.has_take = false;
    }

    [[nodiscard]] const std::byte* input() const noexcept {
        return static_cast<const std::byte*>(args_.in_place ? args_.into : args_.from);
    }
    [[nodiscard]] std::byte* output() const noexcept { return static_cast<std::byte*>(args_.into); }

    // Sets the length of the result, and from which length on deliver() is non-temporal. Must be
    // called before deliver().
    void set_result_bytes(std::size_t bytes, std::size_t nontemporal_from) noexcept {
        is_nontemporal_ = bytes >= nontemporal_from || bytes >= ucs::arch::nontemporal_threshold();
    }
    // Copies into the result.
    void deliver(std::byte* into, const std::byte* from, std::size_t bytes) const noexcept {
        if (bytes == 0) return;
        if (is_nontemporal_)
            ucs::arch::copy_nontemporal(into, from, bytes);
        else
            std::memcpy(into, from, bytes);
    }

    const call& args_;
    const numa_domains& domains_;
    const rank_t me_;
    const rank_t ranks_;
    stage_plan plan_;

private:
    bool is_nontemporal_ = false;
};

// Returns whether there are patterns for a collective at all. pattern_memory::make() decides which
// sizes they serve.
[[nodiscard]] bool has_patterns(schedule::collective type) noexcept;

// Memory for one pattern at a time, of any kind. Making a pattern allocates nothing, except copies
// of input that an alltoall or a reduce_scatter in place may need. Owned by an operation. Owner
// context.
class pattern_memory {
public:
    explicit pattern_memory(rank_t ranks);  // throws std::bad_alloc

    // Replaces the pattern. Returns nullptr if the engine does not have the collective (the fabric
    // does). `args` stays where it is; its buffers may be replaced. `domains` and `peers` outlive
    // the pattern. If `peers` is empty, the pattern reads no memory of other processes. May throw
    // std::bad_alloc.
    pattern* make(const call& args, const numa_domains& domains, const geometry& layout,
                  const tuning& params, const local_peers& peers);

private:
    struct destroyer {
        void operator()(pattern* made) const noexcept { std::destroy_at(made); }
    };
    template<class Pattern, class... Args>
    pattern* place(Args&&... args);

    const std::size_t bytes_;
    const std::unique_ptr<std::byte[]> buffer_;
    std::pmr::monotonic_buffer_resource free_;
    std::unique_ptr<pattern, destroyer> made_;
};

}  // namespace ucg::node
