// Limit of the memory for early messages, over all groups of a context.
#pragma once

#include <cstdint>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucg::node {

// Counts the memory of early messages, per rank of each group and in total. A single rank may use
// all of the limit. When the total exceeds the limit, the rank with the largest share is cut off.
// Owner context of all groups.
class early_limit {
public:
    // Counts the memory of one rank of one group.
    class share {
    public:
        explicit share(early_limit& total) noexcept : total_(total) {}
        share(const share&) = delete;
        share& operator=(const share&) = delete;

        [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
        // May cut off ranks, including this one; then its messages are gone.
        void take(std::uint64_t bytes) noexcept;
        void give_back(std::uint64_t bytes) noexcept;

    protected:
        virtual ~share() { give_back(used_); }

    private:
        friend class early_limit;
        // Frees all early messages of the rank, gives their memory back and takes no more of it.
        virtual void cut_off() noexcept = 0;

        early_limit& total_;
        ucs::datastruct::list_hook hook_;
        std::uint64_t used_ = 0;
    };

    explicit early_limit(std::uint64_t limit = ucs::sys::peer_memory_limit()) noexcept
        : limit_(limit) {}
    early_limit(const early_limit&) = delete;
    early_limit& operator=(const early_limit&) = delete;

    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
    // Returns whether the rings of ranks of which nothing is expected should be left unread now.
    // Then many ranks that each are a little ahead wait, and none of them is cut off.
    [[nodiscard]] bool is_half_used() const noexcept { return used_ > limit_ / 2; }

private:
    [[nodiscard]] share& largest() noexcept;

    const std::uint64_t limit_;
    std::uint64_t used_ = 0;
    ucs::datastruct::list<share, &share::hook_> users_;  // shares that are not 0
};

}  // namespace ucg::node
