// The counts and the send and receive memory of one collective operation.
#pragma once

#include <ucg/api/ucg.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ucg/reference/layout.hpp"
#include "ucg/reference/values.hpp"

namespace tools::ucg_perf {

// Returns the properties of a collective.
[[nodiscard]] constexpr ucg::schedule::traits traits_of(ucg_coll_t collective) noexcept {
    return traits_of(static_cast<ucg::schedule::collective>(collective));
}

// The arguments of a collective that are the same on all ranks.
struct wanted_layout {
    ucg_coll_t collective = UCG_COLL_BARRIER;
    std::uint64_t count = 0;  // elements; of one block if each rank has a block for each rank
    std::uint32_t root = 0;
    bool in_place = false;
};

// In v-forms the blocks differ in size: they are a quarter larger for one half of the ranks, and a
// quarter smaller for the other half.
[[nodiscard]] ucg::reference::layout make_layout(const wanted_layout& wanted, std::uint32_t rank,
                                                 std::uint32_t ranks);

// Returns the elements that the algorithm's bandwidth counts: the whole vector, with the blocks of
// all ranks.
[[nodiscard]] std::uint64_t total_elements(const wanted_layout& wanted,
                                           std::uint32_t ranks) noexcept;

// Returns the factor from algorithm bandwidth to bus bandwidth, as nccl-tests define it: the share
// of the data that must cross each rank's link at least once. 1 for collectives that nccl-tests do
// not have.
[[nodiscard]] double bus_factor(ucg_coll_t collective, std::uint32_t ranks) noexcept;

// Memory in whole pages, each of which has been written to, so that it is resident. A size of 0
// allocates nothing. Owned by the trial.
class page_memory {
public:
    // Throws failure when the allocation fails.
    explicit page_memory(std::uint64_t bytes);
    [[nodiscard]] void* get() const noexcept { return bytes_.get(); }

private:
    struct unmap {
        std::size_t size;
        void operator()(void* begin) const noexcept;
    };
    std::unique_ptr<void, unmap> bytes_;
};

// Throws failure when `bytes` exceeds the physical memory. An allocation alone does not reveal
// this, because the kernel overcommits.
void check_memory(double bytes);

// The send and receive buffer of one operation.
struct buffers {
    page_memory source;
    page_memory target;
};

// Writes a rank's whole input with one small number that depends on `seed`, at the speed of memory.
void write_uniform(const buffers& into, const ucg::reference::layout& rank_layout, ucg_type_t type,
                   std::uint64_t seed) noexcept;

}  // namespace tools::ucg_perf
