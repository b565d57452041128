// What a collective does with the slots of all ranks, segment by segment.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "ucg/node/domains.hpp"
#include "ucg/node/segment.hpp"
#include "ucg/node/slot_writer.hpp"
#include "ucg/schedule/call.hpp"
#include "ucg/schedule/node_segments.hpp"
#include "ucs/arch/copy.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

class neighbours;
using schedule::call;

// Where the ranks have put one segment: in their mailboxes or in their slots.
class places {
public:
    places(const segment& memory, std::uint64_t mailbox) noexcept
        : memory_(memory), writer_(nullptr), number_(mailbox) {}
    places(const segment& memory, slot_writer& by, std::uint64_t slot) noexcept
        : memory_(memory), writer_(&by), number_(slot) {}

    [[nodiscard]] std::byte* of(rank_t rank) const noexcept {
        return writer_ == nullptr ? memory_.mailbox_content(rank, number_)
                                  : memory_.slot(rank, number_);
    }
    // Copies to a place of the own rank's, where others read it soon; the source of nothing may be
    // null.
    void put(std::byte* into, const std::byte* from, std::size_t bytes) const noexcept {
        if (writer_ != nullptr)
            writer_->put(into, from, bytes);
        else if (bytes != 0)
            std::memcpy(into, from, bytes);
    }
    // Whether put() goes past the caches now.
    [[nodiscard]] bool streams() const noexcept { return writer_ != nullptr && writer_->streams(); }

private:
    const segment& memory_;
    slot_writer* writer_;  // nullptr: it is in mailboxes
    std::uint64_t number_;
};

// A segment passes these stages: give, so many times work, take. All but the last two are the same
// on every rank.
struct flow {
    static constexpr unsigned most_works = 2;

    std::uint64_t segments = 1;
    std::size_t bytes = 0;  // that a rank puts into a slot, at most
    unsigned works = 0;
    // For each stage after giving, those who have to be through the stage before. Valid as long as
    // the pattern.
    std::array<std::span<const rank_t>, 1 + most_works> awaits;
    bool takes = true;  // else there is nothing to take here
};

struct tuning : schedule::node_segments {
    // An allreduce (or reduce) in which a rank would read no more bytes than this of others lets
    // everyone (the root) reduce everything: one synchronization. Above, each reduces a part.
    std::size_t direct_bytes = 32 * 1024;
    // So many ranks do so up to `direct_ranks_bytes` of vector: between two, both ways copy as
    // much, but this one reads each input twice, which matters where it is no longer in a cache
    // then.
    rank_t direct_ranks = 2;
    std::size_t direct_ranks_bytes = 4 << 20;
    // From so many bytes on a result is written past the caches, which it would only sweep; from
    // fewer where a core's part of the cache is smaller. Of a reduction earlier: its inputs sweep
    // them as well.
    std::size_t streamed_bytes = 32 << 20;
    std::size_t streamed_sum_bytes = 8 << 20;
    // From so many bytes on a rank reads the block of another where it lies, if the system lets it;
    // but above so many of all blocks copying past the caches is faster.
    std::size_t read_bytes = std::numeric_limits<std::size_t>::max();
    std::size_t most_read_bytes = 32 << 20;
    // From so many bytes of a vector (of all blocks) on, each domain has a level of its own.
    std::size_t domain_bytes = 64 * 1024;
    slot_writer::limits writing;
    // Bytes that are reduced at a time where the result is copied to two places.
    std::size_t block = 16 * 1024;
};

// Bytes of a long segment, at most.
[[nodiscard]] inline std::size_t longest_segment(const geometry& like, const tuning& by) noexcept {
    return std::min(by.long_segment, like.longest_segment());
}
// Bytes of a segment of `bytes` in elements of so many, at most.
[[nodiscard]] std::size_t segment_for(std::size_t bytes, std::size_t element, const geometry& like,
                                      const tuning& by) noexcept;

// One collective of one rank. Each segment passes the stages in order; give() of a segment may come
// before take() of the one before. Nothing here waits: the engine calls a stage when it can run,
// and the bytes that others gave may change at any time if they are malicious, so nothing read from
// them is used as a length or a place. Owned by an operation. Owner context.
class pattern {
public:
    pattern(const call& what, const domains& who) noexcept
        : what_(what), who_(who), me_(who.me()), ranks_(who.ranks()) {}
    pattern(const pattern&) = delete;
    pattern& operator=(const pattern&) = delete;
    virtual ~pattern() = default;

    [[nodiscard]] const flow& how() const noexcept { return how_; }
    // For people, in a few words.
    [[nodiscard]] virtual const char* way() const noexcept { return "copied"; }

    // Puts the segment where others will look for it.
    virtual void give(std::uint64_t segment, const places& at) noexcept = 0;
    // Puts a part of the result into the own slot, or reads what others have not put into theirs.
    // `turn` counts the stages of this kind from 0. Not UCS_OK: there is no going on.
    [[nodiscard]] virtual ucs_status_t work(unsigned /*turn*/, std::uint64_t /*segment*/,
                                            const places&) noexcept {
        return UCS_OK;
    }
    virtual void take(std::uint64_t segment, const places& at) noexcept = 0;

protected:
    [[nodiscard]] std::span<const rank_t> root() const noexcept { return {&what_.root, 1}; }
    // Takes what all others give, or what nobody does.
    void hear_all() noexcept { how_.awaits[how_.works] = who_.others(); }
    void hear_nobody() noexcept {
        how_.awaits[how_.works] = {};
        how_.takes = false;
    }

    [[nodiscard]] const std::byte* input() const noexcept {
        return static_cast<const std::byte*>(what_.in_place ? what_.into : what_.from);
    }
    [[nodiscard]] std::byte* output() const noexcept { return static_cast<std::byte*>(what_.into); }

    // Says how long the result is, and from which length on it is streamed; before deliver().
    void expect(std::size_t bytes, std::size_t streamed) noexcept {
        streams_ = bytes >= streamed || bytes >= ucs::arch::nontemporal_threshold();
    }
    // Copies into the result.
    void deliver(std::byte* into, const std::byte* from, std::size_t bytes) const noexcept {
        if (bytes == 0) return;
        if (streams_)
            ucs::arch::copy_nontemporal(into, from, bytes);
        else
            std::memcpy(into, from, bytes);
    }

    const call& what_;
    const domains& who_;
    const rank_t me_;
    const rank_t ranks_;
    flow how_;

private:
    bool streams_ = false;
};

// Whether there are patterns for it at all; which sizes they serve make_pattern() says.
[[nodiscard]] bool has_patterns(schedule::collective what) noexcept;

// nullptr: the engine does not have it (the fabric does). The call stays where it is; its buffers
// may be replaced. `who` and `others` outlive it; nobody in `others`: nobody's memory is read. May
// throw std::bad_alloc.
[[nodiscard]] std::unique_ptr<pattern> make_pattern(const call& what, const domains& who,
                                                    const geometry& like, const tuning& by,
                                                    const neighbours& others);

}  // namespace ucg::node
