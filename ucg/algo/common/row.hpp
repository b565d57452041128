// How algorithms are written: a struct of three functions, and a row made of it.
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

// What every algorithm declares; the meaning of the functions is that of schedule::algorithm's.
#define UCG_ALGORITHM(name)                                                     \
    struct name {                                                               \
        static task run(member& me, const call& what);                          \
        static std::size_t scratch(const call& what, rank_t rank, rank_t size); \
        static double cost(const shape& of, const link_cost& link);             \
    }

template<class Algorithm>
constexpr schedule::algorithm row(collective what, const char* name,
                                  condition needs = condition::none) noexcept {
    return {what, name, &Algorithm::run, &Algorithm::scratch, needs, &Algorithm::cost};
}

template<class Algorithm>
constexpr schedule::algorithm row_on_nodes(collective what, const char* name,
                                           condition needs = condition::none) noexcept {
    return {what,
            name,
            &Algorithm::run,
            &Algorithm::scratch,
            needs | condition::nodes,
            &Algorithm::cost,
            &Algorithm::scratch_on_nodes};
}

// As UCG_ALGORITHM, for those.
#define UCG_ALGORITHM_ON_NODES(name)                                             \
    struct name {                                                                \
        static task run(member& me, const call& what);                           \
        static std::size_t scratch(const call&, rank_t, rank_t) { return 0; }    \
        static std::size_t scratch_on_nodes(const call& what, rank_t rank,       \
                                            const schedule::placement& where);   \
        static double cost(const shape& of, const link_cost& link);              \
    }

}  // namespace ucg::algo
