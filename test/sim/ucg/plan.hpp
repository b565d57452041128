// The plan of a run, generated from a seed: network, options, groups and the ranks' program.
#pragma once

#include <variant>

#include "test/sim/choices.hpp"
#include "test/sim/ucg/exchange_plan.hpp"
#include "ucs/time/clock.hpp"

namespace group_sim {

using sim_test::options;
using ucs::time::nanoseconds;

// The failures of a run.
enum class profile : std::uint8_t {
    orderly,  // every operation succeeds
    cancel,   // operations are canceled or time out
    deaths,   // workers die and links break
};
inline constexpr const char* profile_names[] = {"orderly", "cancel", "deaths"};

// A group; members are ranks of the whole world.
struct group_plan {
    int parent = -1;                     // -1: made over an out-of-band exchange
    std::uint32_t color = 0;             // color of the split of the parent
    std::vector<std::uint32_t> members;  // in the order of their ranks

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }
    // Returns UINT32_MAX for a rank that is no member.
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t world_rank) const;
};

// One split of a group: the colors and keys of its ranks, and the group of each rank, -1: none.
struct split_plan {
    std::size_t parent = 0;
    std::vector<std::uint32_t> colors, keys;
    std::vector<int> made;
};

// A collective. Ranks are ranks of its group.
struct collective_plan {
    std::uint64_t seed = 0;  // seed of the data
    ucg_coll_t coll = UCG_COLL_BARRIER;
    ucg_type_t type = UCG_TYPE_UINT8;
    ucg_op_t op = UCG_OP_SUM;
    std::size_t element = 1;   // bytes
    bool commutative = false;  // property of the user's operator
    std::uint64_t count = 0;
    std::vector<std::uint64_t> counts;  // of each rank; for alltoallv of each pair
    bool places = false;                // blocks have displacements, with gaps between them
    std::uint32_t root = 0;
    bool in_place = false;
    bool deterministic = false;
    std::string algorithm;       // requested algorithm; empty: none
    bool other_buffers = false;  // each start has its own buffers
};

// An operation of a group: one request on each rank.
struct operation_plan {
    std::size_t group = 0;
    std::variant<collective_plan, step_plan> details;
    unsigned starts = 1;
    int canceled_by = -1;  // the rank that cancels; -1: none
    nanoseconds canceled_after = 0;
    std::vector<double> timeouts;  // of each rank; empty: no timeouts
};

enum class action_kind : std::uint8_t { make, split, start, destroy };

// All ranks have the same list, and perform the actions that they are part of, in this order.
struct action {
    action_kind kind = action_kind::make;
    std::size_t index = 0;  // index of the group, split, operation or group
    unsigned start = 0;
};

struct plan {
    std::uint64_t seed = 0;
    profile kind = profile::orderly;
    std::uint32_t ranks = 2;
    std::vector<std::string> nodes;  // name of each rank's node, optionally followed by /NAME of
                                     // its NUMA node
    uct::sim::parameters network;
    double paired = 0;  // fraction of ranks with the second transport
    options ucp;
    options ucg;
    std::vector<group_plan> groups;
    std::vector<split_plan> splits;
    std::vector<exchange_plan> exchanges;
    std::vector<operation_plan> operations;
    std::vector<action> program;
    unsigned max_active = 1;  // maximum active requests of a rank
    nanoseconds longest_pause = 0;
    unsigned failures = 0;      // deaths and broken links
    bool groups_first = false;  // no failure before all groups are created

    // A pure function of the seed.
    static plan generate(std::uint64_t seed, profile kind);
    // A description in one line.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string text(const operation_plan& operation) const;
    // True if ranks of this group share a node.
    [[nodiscard]] bool shares_nodes(const group_plan& group) const;
};

}  // namespace group_sim
