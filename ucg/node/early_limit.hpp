// Limits the memory of early messages, over all groups of a context.
#pragma once

#include <cstdint>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucg::node {

// Counts what the early messages of each rank of each group take up, and of all together. A single
// rank may take all of the limit; when the limit is passed, the rank of a group with the largest
// share is cut off. Owner context of all groups.
class early_limit {
public:
    // Counts what one rank of one group takes up.
    class share {
    public:
        explicit share(early_limit& whole) noexcept : whole_(whole) {}
        share(const share&) = delete;
        share& operator=(const share&) = delete;

        [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
        // May cut off ranks, this one as well: its messages are gone then.
        void take(std::uint64_t bytes) noexcept;
        void give_back(std::uint64_t bytes) noexcept;

    protected:
        virtual ~share() { give_back(used_); }

    private:
        friend class early_limit;
        // Frees all early messages of the rank, gives their memory back and takes no more of it.
        virtual void cut_off() noexcept = 0;

        early_limit& whole_;
        ucs::datastruct::list_hook hook_;
        std::uint64_t used_ = 0;
    };

    explicit early_limit(std::uint64_t most = ucs::sys::most_for_peers()) noexcept : most_(most) {}
    early_limit(const early_limit&) = delete;
    early_limit& operator=(const early_limit&) = delete;

    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
    // Returns whether ranks of which nothing is expected should be left alone now: many ranks that
    // each are a little ahead then wait, and none of them is cut off.
    [[nodiscard]] bool is_half_used() const noexcept { return used_ > most_ / 2; }

private:
    [[nodiscard]] share& largest() noexcept;

    const std::uint64_t most_;
    std::uint64_t used_ = 0;
    ucs::datastruct::list<share, &share::hook_> users_;  // those that use something
};

}  // namespace ucg::node
