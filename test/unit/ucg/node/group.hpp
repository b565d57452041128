// Ranks of one node for tests: threads, or processes that this one forks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ucg/node/early_limit.hpp"
#include "ucg/node/engine.hpp"

namespace test {

// What one rank has. In a process of its own where the ranks are processes.
struct node_rank {
    const ucg::node::segment& memory;
    ucg::node::watch& lives;
    ucg::node::rank_t rank;
    const ucg::node::neighbours& others;
    ucg::node::early_limit& early;
};

// Empty: all is right; else what is wrong.
using node_body = std::function<std::string(node_rank&)>;

enum class ranks_are { threads, processes };

// A small geometry, so that few elements fill many slots.
[[nodiscard]] ucg::node::geometry small_node(ucg::node::rank_t ranks);

// Runs the body in each rank; the first complaint of any, but of those that were killed (they kill
// themselves). Ranks that hang are killed after a minute (more where code is instrumented), and
// that is a complaint.
[[nodiscard]] std::string run_node(const ucg::node::geometry& like, ranks_are what,
                                   const node_body& body);

}  // namespace test
