// Send and receive memory of one collective operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ucg/reference/values.hpp"

namespace tools::ucg_perf {

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
