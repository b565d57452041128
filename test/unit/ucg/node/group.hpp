// Ranks of one node for tests: threads, or processes that this one forks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ucg/node/engine/engine.hpp"
#include "ucg/node/rings/early_limit.hpp"

namespace test {

// The objects of one rank; in a process of its own if the ranks are processes.
struct node_rank {
    const ucg::node::shared_memory& memory;
    ucg::node::watch& lives;
    ucg::node::rank_t rank;
    const ucg::node::local_peers& peers;
    ucg::node::early_limit& early;
};

// Returns an empty string if all is right, otherwise what is wrong.
using node_body = std::function<std::string(node_rank&)>;

enum class ranks_are { threads, processes };

// A small geometry, so that few elements fill many slots.
[[nodiscard]] ucg::node::geometry small_node(ucg::node::rank_t ranks);

// Runs the body in each rank. Returns the first complaint of any rank that was not killed (ranks
// kill themselves). Ranks that hang are killed after a minute (later if the code is instrumented),
// and that is a complaint.
[[nodiscard]] std::string run_node(const ucg::node::geometry& layout, ranks_are kind,
                                   const node_body& body);

}  // namespace test
