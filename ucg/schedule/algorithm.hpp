// An algorithm as a row of a table: what it can do and what it is expected to cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/schedule/call.hpp"
#include "ucg/schedule/link_cost.hpp"
#include "ucg/schedule/member.hpp"

namespace ucg::schedule {

// What is known of a call on every rank alike.
struct shape {
    rank_t ranks = 1;
    double bytes = 0;  // of `call::count`; of blocks that differ, of the average one
    tuning sizes{};
    rank_t root = 0;
    const placement* where = nullptr;  // as fabric::where(); null: each rank on a node of its own
    // Where ranks are alone in this group, but others do the same beside them: how many share the
    // port of a node.
    rank_t sharing = 1;

    [[nodiscard]] double segment() const noexcept { return static_cast<double>(sizes.segment); }
};

// What an algorithm asks of the call; several are added.
enum class condition : std::uint8_t {
    none = 0,
    commutative = 1,   // reduces in another order than that of the ranks
    power_of_two = 2,  // ranks
    // The order in which an element is reduced depends on its place among the others: other bits
    // for the same element where the call is cut differently. (No order depends on times.)
    order_by_place = 4,
    // Several nodes, several ranks on one of them, and a fabric that does collectives of a node.
    nodes = 8,
    // Other bits than those that the rows without this mark and the two above have in common; each
    // collective that reduces has such a row.
    own_order = 16,
};
[[nodiscard]] constexpr condition operator|(condition a, condition b) noexcept {
    return static_cast<condition>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has(condition all, condition one) noexcept {
    return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

struct algorithm {
    collective what;
    const char* name;
    task (*run)(member& me, const call& what);
    // Bytes that it takes by member::scratch(), at most. Not called for more than once per init.
    std::size_t (*scratch)(const call& what, rank_t rank, rank_t size);
    condition needs;
    // Seconds, where all ranks start at the same time.
    double (*cost)(const shape& of, const link_cost& link);
    // Instead of scratch(), of an algorithm that needs nodes.
    std::size_t (*scratch_on_nodes)(const call& what, rank_t rank,
                                    const placement& where) = nullptr;
};

// Whether the algorithm can serve such a call. The answer depends only on what all ranks know.
[[nodiscard]] bool fits(const algorithm& which, const call& what, const shape& of,
                        bool deterministic) noexcept;

}  // namespace ucg::schedule
