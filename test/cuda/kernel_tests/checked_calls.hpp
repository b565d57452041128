// Calls of collectives on a local_node whose input and output ucg/reference defines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/cuda/kernel_tests/local_node.hpp"
#include "ucg/cuda/kernels/list.hpp"
#include "ucg/reference/content.hpp"

namespace kernel_tests {

struct call {
    ucg::cuda::kernel run = ucg::cuda::kernel::barrier;
    std::uint64_t count = 0;
    std::uint32_t root = 0;
    bool in_place = false;
    ucg_type_t type = UCG_TYPE_OPAQUE;  // not of reductions: elements of `element_bytes`
    ucg_op_t op = UCG_OP_SUM;
    std::uint32_t element_bytes = 1;
    std::size_t misalignment = 0;  // of the addresses of all buffers, in bytes
};

// The buffers of all ranks for one call, which can run any number of times.
class checked_call {
public:
    checked_call(local_node& node, const call& wanted);
    checked_call(const checked_call&) = delete;
    checked_call& operator=(const checked_call&) = delete;

    // Writes the input of a round, runs the launches of all ranks with the same parameters as every
    // time, and checks the output and the bytes around it. Returns a description of the error.
    [[nodiscard]] std::optional<std::string> run(std::uint64_t round, const shape& launched);

    [[nodiscard]] const std::vector<parameters>& launches() const noexcept { return launches_; }

private:
    struct rank_buffers {
        ucg::reference::layout layout;
        std::unique_ptr<ucg::reference::content> content;
        std::vector<std::byte> source, target;
    };
    [[nodiscard]] std::byte* address_in(std::vector<std::byte>& buffer) const noexcept;
    void prepare(std::uint32_t rank);
    [[nodiscard]] bool has_clean_margins(const rank_buffers& of_rank) const;

    local_node& node_;
    call call_;
    std::vector<rank_buffers> buffers_;
    std::vector<parameters> launches_;
};

}  // namespace kernel_tests
