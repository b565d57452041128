// The published blocks that rank 0 stores for look-ups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "ucg/oob/rank_list.hpp"

namespace ucg::oob {

// Stores blocks by number and rank until all ranks have withdrawn the number or left. The blocks
// come from other ranks, so the store limits the memory of each rank. Owner context.
class tcp_store {
public:
    using block = std::shared_ptr<const std::vector<std::byte>>;

    static constexpr std::size_t max_of_rank = 16 << 20;
    // The memory that a block counts for, including its index entry.
    [[nodiscard]] static constexpr std::size_t cost_of(std::size_t bytes) noexcept {
        return bytes + 512;
    }

    explicit tcp_store(rank_t ranks) : ranks_(ranks), cost_(ranks) {}

    // Returns false if the rank has published this number already, or exceeds its limit. Throws
    // std::bad_alloc.
    [[nodiscard]] bool put(std::uint64_t number, rank_t publisher,
                           std::span<const std::byte> content);
    // Returns null if there is no such block.
    [[nodiscard]] block find(std::uint64_t number, rank_t publisher) const noexcept;
    // The rank does not look up this number any more.
    void withdraw(std::uint64_t number, rank_t rank);
    // The rank has left and looks up nothing any more. Its published blocks stay.
    void leave(rank_t rank);
    // True if a rank may still look up this number.
    [[nodiscard]] bool is_open(std::uint64_t number) const noexcept {
        return open_.contains(number);
    }

private:
    struct publication {
        std::map<rank_t, block> blocks;
        std::set<rank_t> done;  // ranks that have withdrawn it
        rank_t users = 0;       // number of ranks that have neither withdrawn it nor left
    };
    using publications = std::map<std::uint64_t, publication>;
    publications::iterator close_if_done(publications::iterator entry) noexcept;

    const rank_t ranks_;
    publications open_;
    std::vector<std::size_t> cost_;  // memory that each rank's blocks count for
    std::set<rank_t> left_;
};

}  // namespace ucg::oob
