// Groups of many ranks in one process for tests, each rank with a context of its own, all driven by
// one thread.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "test/support/environment.hpp"
#include "test/support/oob_board.hpp"

namespace test {

// The nodes of four ranks: on one node, on two, and on one each.
[[nodiscard]] inline std::vector<std::string> four_ranks() {
    using names = std::vector<std::string>;
    return GENERATE(names{"a", "a", "a", "a"}, names{"a", "a", "b", "b"},
                    names{"a", "b", "c", "d"});
}

// The arguments of a collective in plain memory; the operator is the sum.
[[nodiscard]] inline ucg_coll_args_t call_of(ucg_coll_t coll, const void* src, void* dst,
                                             std::uint64_t count,
                                             ucg_type_t type = UCG_TYPE_UINT8) {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = coll;
    args.src = src;
    args.dst = dst;
    args.count = count;
    args.type = type;
    return args;
}

[[nodiscard]] inline ucg_coll_args_t barrier() {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = UCG_COLL_BARRIER;
    return args;
}

// Makes a group and destroys it. Returns the status on each of its ranks, each with a context that
// `context_of` makes and an exchange that `adapt` may change. `inspect` sees the made groups.
inline std::vector<ucs_status_t> try_to_make(
    board& over, std::uint32_t ranks, const std::function<ucg_context_h(std::uint32_t)>& context_of,
    const std::function<void(ucg_oob_t&)>& adapt = [](ucg_oob_t&) {},
    const std::function<void(ucg_group_h)>& inspect = [](ucg_group_h) {}) {
    std::vector<ucg_context_h> contexts(ranks);
    std::vector<ucg_group_h> groups(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        contexts[rank] = context_of(rank);
        ucg_oob_t oob = *over.oob(rank);
        adapt(oob);
        ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
        params.oob = &oob;
        REQUIRE(ucg_group_create(contexts[rank], &params, &groups[rank]) == UCS_OK);
    }
    std::vector<ucs_status_t> ended(ranks, UCS_INPROGRESS);
    for (int turns = 0; turns < 10'000'000 && std::ranges::count(ended, UCS_INPROGRESS) != 0;
         ++turns)
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            ended[rank] = ucg_group_test(groups[rank]);
    for (const ucg_group_h each : groups)
        inspect(each);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        ucg_group_destroy(groups[rank]);
        ucg_context_destroy(contexts[rank]);
    }
    return ended;
}

// A group and the contexts of its ranks.
class world {
public:
    // `nodes[i]`: name of the node of rank i, optionally followed by /NAME of its NUMA node.
    // `transports`: UCX_TLS.
    world(const std::vector<std::string>& nodes, const char* transports = "sm,self")
        : contexts(nodes.size()),
          groups(nodes.size()),
          frozen_(nodes.size()),
          board_(std::make_unique<board>(static_cast<std::uint32_t>(nodes.size()))) {
        const test::env tls("UCX_TLS", transports);
        for (std::uint32_t rank = 0; rank < size(); ++rank) {
            const std::size_t end = std::min(nodes[rank].find('/'), nodes[rank].size());
            const test::env node("UCG_NODE_ID", nodes[rank].substr(0, end).c_str());
            const test::env numa(
                "UCG_NUMA_ID", end < nodes[rank].size() ? nodes[rank].substr(end + 1).c_str() : "");
            REQUIRE(ucg_context_create(nullptr, &contexts[rank]) == UCS_OK);
            ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
            params.oob = board_->oob(rank);
            REQUIRE(ucg_group_create(contexts[rank], &params, &groups[rank]) == UCS_OK);
        }
        REQUIRE(wait(*this, groups) == UCS_OK);
    }
    ~world() {
        for (const ucg_group_h each : groups)
            ucg_group_destroy(each);
        for (const ucg_context_h each : contexts)
            ucg_context_destroy(each);
    }

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(groups.size()); }
    void progress() {
        for (std::uint32_t rank = 0; rank < size(); ++rank)
            if (!frozen_[rank]) ucg_progress(contexts[rank]);
    }
    // Returns whether the group was made in a time that suffices on any machine.
    bool run_until(const std::function<bool()>& done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
        while (!done()) {
            if (std::chrono::steady_clock::now() > limit) return false;
            progress();
        }
        return true;
    }
    // Returns the status that all groups have when all are decided.
    static ucs_status_t wait(world& in, const std::vector<ucg_group_h>& all) {
        std::vector<ucs_status_t> found(all.size(), UCS_INPROGRESS);
        REQUIRE(in.run_until([&] {
            bool decided = true;
            for (std::size_t i = 0; i < all.size(); ++i) {
                found[i] = ucg_group_test(all[i]);
                decided = decided && found[i] != UCS_INPROGRESS;
            }
            return decided;
        }));
        for (const ucs_status_t each : found)
            if (each != UCS_OK) return each;
        return UCS_OK;
    }
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
    // `groups`: one of each rank, if not those of the world.
    explicit requests(world& in) : requests(in, in.groups) {}
    requests(world& in, const std::vector<ucg_group_h>& groups) : in_(in), groups_(groups) {}
    requests(const requests&) = delete;
    requests& operator=(const requests&) = delete;
    ~requests() {
        for (const ucg_request_h each : all_)
            CHECK(ucg_request_free(each) == UCS_OK);
    }

    // `status`: that of the init.
    void add(std::uint32_t rank, const ucg_coll_args_t& args, ucs_status_t status = UCS_OK) {
        ucg_request_h made = nullptr;
        REQUIRE(ucg_request_init(groups_[rank], &args, &made) == status);
        REQUIRE(made != nullptr);
        all_.push_back(made);
    }
    void start() {
        for (const ucg_request_h each : all_)
            REQUIRE(ucg_request_start(each) == UCS_OK);
    }
    void finish() {
        REQUIRE(in_.run_until([this] { return over(); }));
    }
    // Returns the worst status of all ranks.
    ucs_status_t run() {
        start();
        finish();
        for (const ucg_request_h each : all_)
            if (ucg_request_test(each) != UCS_OK) return ucg_request_test(each);
        return UCS_OK;
    }
    // Returns the status of each request.
    [[nodiscard]] std::vector<ucs_status_t> ends() const {
        std::vector<ucs_status_t> found(all_.size());
        std::ranges::transform(all_, found.begin(), ucg_request_test);
        return found;
    }
    [[nodiscard]] bool over() const {
        for (const ucg_request_h each : all_)
            if (ucg_request_test(each) == UCS_INPROGRESS) return false;
        return true;
    }
    [[nodiscard]] const std::vector<ucg_request_h>& all() const { return all_; }

private:
    world& in_;
    const std::vector<ucg_group_h> groups_;
    std::vector<ucg_request_h> all_;
};

}  // namespace test
