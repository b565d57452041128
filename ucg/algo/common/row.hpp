// Declaration of algorithms: a struct with three functions, and the row of the table for it.
#pragma once

#include "ucg/schedule/algorithm.hpp"

namespace ucg::algo {

using schedule::call;
using schedule::collective;
using schedule::condition;
using schedule::flight;
using schedule::link_cost;
using schedule::member;
using schedule::rank_t;
using schedule::shape;
using schedule::task;

// Declares an algorithm. The functions are those of schedule::algorithm.
#define UCG_ALGORITHM(name)                                                     \
    struct name {                                                               \
        static task run(member& me, const call& args);                          \
        static std::size_t scratch(const call& args, rank_t rank, rank_t size); \
        static double cost(const shape& params, const link_cost& link);         \
    }

// Declares an algorithm that needs no scratch memory.
#define UCG_ALGORITHM_WITHOUT_SCRATCH(name)                                   \
    struct name {                                                             \
        static task run(member& me, const call& args);                        \
        static std::size_t scratch(const call&, rank_t, rank_t) { return 0; } \
        static double cost(const shape& params, const link_cost& link);       \
    }

template<class Algorithm>
constexpr schedule::algorithm row(collective kind, const char* name,
                                  condition needs = condition::none) noexcept {
    return {kind, name, &Algorithm::run, &Algorithm::scratch, needs, &Algorithm::cost};
}

template<class Algorithm>
constexpr schedule::algorithm row_on_nodes(collective kind, const char* name,
                                           condition needs = condition::none) noexcept {
    return {kind,
            name,
            &Algorithm::run,
            &Algorithm::scratch,
            needs | condition::nodes,
            &Algorithm::cost,
            &Algorithm::scratch_on_nodes};
}

// The node's engine, which serves a group on one node and is always preferred there.
UCG_ALGORITHM_WITHOUT_SCRATCH(shared_memory);
constexpr schedule::algorithm engine_row(collective kind) noexcept {
    return row<shared_memory>(kind, "shared_memory", condition::engine);
}

// Declares an algorithm that needs nodes, for row_on_nodes().
#define UCG_ALGORITHM_ON_NODES(name)                                               \
    struct name {                                                                  \
        static task run(member& me, const call& args);                             \
        static std::size_t scratch(const call&, rank_t, rank_t) { return 0; }      \
        static std::size_t scratch_on_nodes(const call& args, rank_t rank,         \
                                            const schedule::placement& placement); \
        static double cost(const shape& params, const link_cost& link);            \
    }

}  // namespace ucg::algo
