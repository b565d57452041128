// Ranks of one node as threads of this process, whose kernels the fiber runner runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ucg/cuda/kernels/parameters.hpp"

namespace kernel_tests {

using ucg::cuda::parameters;

struct shape {
    unsigned blocks = 2;
    unsigned threads = 32;
    std::uint64_t seed = 1;
};

class local_node {
public:
    explicit local_node(std::uint32_t ranks,
                        ucg::cuda::layout area = {.channels = 4, .slice_bytes = 2048});

    [[nodiscard]] std::uint32_t ranks() const noexcept {
        return static_cast<std::uint32_t>(areas_.size());
    }
    // Returns parameters without a collective.
    [[nodiscard]] parameters base(std::uint32_t rank);
    // Runs the launches of several ranks, one for each element, at the same time. Returns the first
    // failure of the fiber runner.
    [[nodiscard]] std::optional<std::string> run(const std::vector<parameters>& each,
                                                 const shape& launched) const;

    // Words of the host.
    void abort(std::uint32_t rank) noexcept { words_[rank].abort = 1; }
    [[nodiscard]] ucg::cuda::failure_report report(std::uint32_t rank) const noexcept {
        return ucg::cuda::failure_of(words_[rank].report);
    }
    // Returns a channel of a rank's area.
    [[nodiscard]] ucg::cuda::channel_words& channel(std::uint32_t rank,
                                                    std::uint32_t index) noexcept;

private:
    struct host_words {
        std::uint32_t abort = 0;
        std::uint64_t report = 0;
    };
    struct release {
        void operator()(std::byte* memory) const noexcept;
    };

    ucg::cuda::layout area_;
    std::vector<std::unique_ptr<std::byte[], release>> areas_;
    std::vector<host_words> words_;
};

}  // namespace kernel_tests
