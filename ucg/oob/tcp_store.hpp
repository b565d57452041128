// What rank 0 keeps for those who ask.
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

// Blocks by number and rank, until all ranks have withdrawn the number or left. They come from
// other ranks, so there is a limit to what each may take. Owner context.
class tcp_store {
public:
    using block = std::shared_ptr<const std::vector<std::byte>>;

    static constexpr std::size_t most_of_rank = 16 << 20;
    // What a block counts for, with what is needed to find it.
    [[nodiscard]] static constexpr std::size_t cost_of(std::size_t bytes) noexcept {
        return bytes + 512;
    }

    explicit tcp_store(rank_t ranks) : ranks_(ranks), cost_(ranks) {}

    // False: the rank has published it already, or too much. std::bad_alloc.
    [[nodiscard]] bool put(std::uint64_t number, rank_t by, std::span<const std::byte> what);
    // None: it is not here.
    [[nodiscard]] block find(std::uint64_t number, rank_t of) const noexcept;
    // The rank asks for nothing of this number any more.
    void withdraw(std::uint64_t number, rank_t by);
    // The rank asks for nothing at all any more. What it has published stays.
    void leave(rank_t who);
    // Whether anybody may still ask for something of this number.
    [[nodiscard]] bool is_open(std::uint64_t number) const noexcept {
        return open_.contains(number);
    }

private:
    struct publication {
        std::map<rank_t, block> blocks;
        std::set<rank_t> done;  // ranks that have withdrawn it
        rank_t asking = 0;      // how many ranks have neither withdrawn it nor left
    };
    using publications = std::map<std::uint64_t, publication>;
    publications::iterator close_if_done(publications::iterator which) noexcept;

    const rank_t ranks_;
    publications open_;
    std::vector<std::size_t> cost_;  // of what each rank has here
    std::set<rank_t> gone_;
};

}  // namespace ucg::oob
