// The memory of one operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tools::ucg_perf {

// Whole pages, all of which were written to. No bytes: no memory. Owned by the trial.
class page_memory {
public:
    // Throws failure when there is not so much memory.
    explicit page_memory(std::uint64_t bytes);
    [[nodiscard]] void* get() const noexcept { return bytes_.get(); }

private:
    struct unmap {
        std::size_t size;
        void operator()(void* begin) const noexcept;
    };
    std::unique_ptr<void, unmap> bytes_;
};

// Throws failure when the machine has not so many bytes. To ask for them would not tell: the kernel
// may promise more than there is.
void check_memory(double bytes);

// Where one operation reads and writes.
struct buffers {
    page_memory source;
    page_memory target;
};

}  // namespace tools::ucg_perf
