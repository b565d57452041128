// Asks the broker of another process for descriptors of its device memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/cuda/ipc/key.hpp"

namespace uct::cuda {

// An allocation of another process.
struct imported_part {
    ucs::unique_fd descriptor;
    std::size_t length = 0;
};

struct broker_answer {
    std::vector<imported_part> parts;  // adjacent, in the order of their addresses
    std::string problem;               // the reason why there are none
};

// Returns the allocations of an export, together exactly `length` bytes long. Waits at most 200 ms
// for the other process. May throw std::bad_alloc. Any thread.
[[nodiscard]] broker_answer fetch_export(const export_name& name, std::uint64_t length);

}  // namespace uct::cuda
