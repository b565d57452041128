// Blocks that a rank without peers has published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ucg::oob {

// Blocks by their numbers. Owner context.
class own_blocks {
public:
    void put(std::uint64_t number, std::span<const std::byte> block) {
        all_[number].assign(block.begin(), block.end());
    }
    // Returns an empty span if there is no such block.
    [[nodiscard]] std::span<const std::byte> find(std::uint64_t number) const noexcept {
        const auto found = all_.find(number);
        return found == all_.end() ? std::span<const std::byte>{} : found->second;
    }
    void drop(std::uint64_t number) noexcept { all_.erase(number); }

private:
    std::map<std::uint64_t, std::vector<std::byte>> all_;
};

}  // namespace ucg::oob
