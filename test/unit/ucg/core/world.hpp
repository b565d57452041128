// Groups of many ranks in one process for tests, each rank with a context of its own, all driven by
// one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/support/oob_board.hpp"

namespace test {

[[nodiscard]] ucg_coll_args_t barrier();

// Makes a group and destroys it. Returns the status on each of its ranks, each with a context that
// `context_of` makes.
std::vector<ucs_status_t> try_to_make(
    board& over, std::uint32_t ranks,
    const std::function<ucg_context_h(std::uint32_t)>& context_of);

// A group and the contexts of its ranks.
class world {
public:
    // `nodes[i]`: name of the node of rank i, optionally followed by /NAME of its NUMA node.
    // `transports`: UCX_TLS.
    world(const std::vector<std::string>& nodes, const char* transports = "sm,self");
    ~world();

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(groups.size()); }
    void progress();
    // Returns whether the group was made in a time that suffices on any machine.
    bool run_until(const std::function<bool()>& done);
    // Returns the status that all groups have when all are decided.
    static ucs_status_t wait(world& in, const std::vector<ucg_group_h>& all);
    [[nodiscard]] board& oob_board() { return *board_; }
    // This rank dies without notifying the others: nothing of it makes progress until it is thawed.
    void freeze(std::uint32_t rank) { frozen_[rank] = true; }
    void thaw(std::uint32_t rank) { frozen_[rank] = false; }

    std::vector<ucg_context_h> contexts;
    std::vector<ucg_group_h> groups;

private:
    std::vector<bool> frozen_;
    std::unique_ptr<board> board_;
};

// One request on every rank, freed at the end.
class requests {
public:
    explicit requests(world& in) : in_(in) {}
    requests(const requests&) = delete;
    requests& operator=(const requests&) = delete;
    ~requests();

    void add(std::uint32_t rank, const ucg_coll_args_t& args);
    void start();
    // Returns the worst status of all ranks.
    ucs_status_t run();
    [[nodiscard]] bool over() const;
    [[nodiscard]] const std::vector<ucg_request_h>& all() const { return all_; }

private:
    world& in_;
    std::vector<ucg_request_h> all_;
};

}  // namespace test
