// An algorithm as a row of a table: the function that runs it, its conditions and its predicted
// cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/schedule/call.hpp"
#include "ucg/schedule/link_cost.hpp"
#include "ucg/schedule/member.hpp"

namespace ucg::schedule {

// The properties of a call that are the same on every rank.
struct shape {
    rank_t ranks = 1;
    double bytes = 0;  // of call::count elements; if blocks differ, of the average block
    tuning sizes{};
    rank_t root = 0;
    const placement* node_placement =
        nullptr;  // fabric::node_placement(); null: each rank has its own node
    // Number of groups that run the same collective concurrently and share the port of a node.
    rank_t sharing = 1;
    bool engine = false;  // the group is one node, and its engine can do this call

    [[nodiscard]] double segment() const noexcept { return static_cast<double>(sizes.segment); }
};

// The conditions and properties of an algorithm, as a set of flags.
enum class condition : std::uint8_t {
    none = 0,
    commutative = 1,   // reduces in another order than the order of ranks
    power_of_two = 2,  // the number of ranks must be a power of two
    // The order in which an element is reduced depends on its index in the vector. So the same
    // element may get other bits if the call is cut differently. (No order depends on timing.)
    order_by_place = 4,
    // There are several nodes, one of them has several ranks, and the fabric runs collectives of a
    // node.
    nodes = 8,
    // The result has other bits than the rows without this flag and the two flags above, which all
    // give the same bits. Each collective that reduces has such a row.
    own_order = 16,
    // The row is the node's engine. It reduces in an order of its own, so it does not serve
    // deterministic calls.
    engine = 32,
};
[[nodiscard]] constexpr condition operator|(condition a, condition b) noexcept {
    return static_cast<condition>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has(condition all, condition one) noexcept {
    return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

struct algorithm {
    collective kind;
    const char* name;
    task (*run)(member& me, const call& args);
    // Maximum number of bytes that it takes by member::scratch(). Called at most once per init.
    std::size_t (*scratch)(const call& args, rank_t rank, rank_t size);
    condition needs;
    // Predicted seconds if all ranks start at the same time.
    double (*cost)(const shape& params, const link_cost& link);
    // Replaces scratch() for an algorithm with condition::nodes.
    std::size_t (*scratch_on_nodes)(const call& args, rank_t rank,
                                    const placement& placement) = nullptr;
};

// Returns whether the algorithm can serve the call. The result is the same on every rank.
[[nodiscard]] bool can_run(const algorithm& algorithm, const call& args, const shape& params,
                           bool deterministic) noexcept;

}  // namespace ucg::schedule
