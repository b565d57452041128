// What one seed means: the network, the options, the groups, and what their ranks do.
#pragma once

#include <ucg/api/ucg.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "test/sim/choices.hpp"
#include "test/sim/ucg/exchange_plan.hpp"
#include "ucs/time/clock.hpp"

namespace group_sim {

using sim_test::options;
using ucs::time::nanoseconds;

// How much goes wrong.
enum class profile : std::uint8_t {
    orderly,  // every operation succeeds
    cancel,   // operations are canceled, or their time is up
    deaths,   // workers die and links break
};
inline constexpr const char* profile_names[] = {"orderly", "cancel", "deaths"};

// A group, in the numbers of the ranks of the whole world.
struct group_plan {
    int parent = -1;                     // -1: made over an exchange of its members
    std::uint32_t color = 0;             // of those that split the parent together
    std::vector<std::uint32_t> members;  // in the order of their ranks

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }
    // UINT32_MAX: it is no member.
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t who) const;
};

// One split of a group: what each of its ranks says, and the group that it gets, -1: none.
struct split_plan {
    std::size_t parent = 0;
    std::vector<std::uint32_t> colors, keys;
    std::vector<int> made;
};

// A collective. Ranks are those of its group.
struct collective_plan {
    std::uint64_t seed = 0;  // of its data
    ucg_coll_t coll = UCG_COLL_BARRIER;
    ucg_type_t type = UCG_TYPE_UINT8;
    ucg_op_t op = UCG_OP_SUM;
    std::size_t element = 1;   // bytes
    bool commutative = false;  // the user's operator
    std::uint64_t count = 0;
    std::vector<std::uint64_t> counts;  // of each rank; of alltoallv from each to each
    bool places = false;                // of blocks are given, with gaps between them
    std::uint32_t root = 0;
    bool in_place = false;
    bool deterministic = false;
    std::string algorithm;       // is asked for; empty: none
    bool other_buffers = false;  // each start has buffers of its own
};

// An operation of a group, which is one request on each of its ranks.
struct operation_plan {
    std::size_t group = 0;
    std::variant<collective_plan, step_plan> what;
    unsigned starts = 1;
    int canceled_by = -1;  // this rank
    nanoseconds canceled_after = 0;
    std::vector<double> timeouts;  // of each rank; none where it is empty
};

enum class deed : std::uint8_t { make, split, start, destroy };

// The same list for all ranks; each does what it is part of, in this order.
struct action {
    deed what = deed::make;
    std::size_t which = 0;  // group; split; operation; group
    unsigned start = 0;
};

struct plan {
    std::uint64_t seed = 0;
    profile kind = profile::orderly;
    std::uint32_t ranks = 2;
    std::vector<std::string> nodes;  // of each rank, with /NAME behind it that of its NUMA node
    uct::sim::parameters network;
    double paired = 0;  // of the ranks, those with the second transport
    options ucp;
    options ucg;
    std::vector<group_plan> groups;
    std::vector<split_plan> splits;
    std::vector<exchange_plan> exchanges;
    std::vector<operation_plan> operations;
    std::vector<action> program;
    unsigned most_under_way = 1;  // requests of a rank
    nanoseconds longest_pause = 0;
    unsigned failures = 0;      // deaths and broken links
    bool groups_first = false;  // nothing breaks before all groups are made

    // A pure function of the seed.
    static plan of(std::uint64_t seed, profile kind);
    // One line for people.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string text(const operation_plan& of) const;
    // Whether ranks of this group share a node.
    [[nodiscard]] bool shares_nodes(const group_plan& of) const;
};

}  // namespace group_sim
