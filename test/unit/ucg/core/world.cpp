#include "test/unit/ucg/core/world.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "test/support/environment.hpp"

namespace test {

ucg_coll_args_t barrier() {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = UCG_COLL_BARRIER;
    return args;
}

std::vector<ucs_status_t> try_to_make(
    board& over, std::uint32_t ranks,
    const std::function<ucg_context_h(std::uint32_t)>& context_of) {
    std::vector<ucg_context_h> contexts(ranks);
    std::vector<ucg_group_h> groups(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        contexts[rank] = context_of(rank);
        ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
        params.oob = over.oob(rank);
        REQUIRE(ucg_group_create(contexts[rank], &params, &groups[rank]) == UCS_OK);
    }
    std::vector<ucs_status_t> ended(ranks, UCS_INPROGRESS);
    for (int turns = 0; turns < 100000 && std::ranges::count(ended, UCS_INPROGRESS) != 0; ++turns)
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            ended[rank] = ucg_group_test(groups[rank]);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        ucg_group_destroy(groups[rank]);
        ucg_context_destroy(contexts[rank]);
    }
    return ended;
}

world::world(const std::vector<std::string>& nodes, const char* transports)
    : contexts(nodes.size()),
      groups(nodes.size()),
      frozen_(nodes.size()),
      board_(std::make_unique<board>(static_cast<std::uint32_t>(nodes.size()))) {
    const test::env tls("UCX_TLS", transports);
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        const std::size_t end = std::min(nodes[rank].find('/'), nodes[rank].size());
        const test::env node("UCG_NODE_ID", nodes[rank].substr(0, end).c_str());
        const test::env numa("UCG_NUMA_ID",
                             end < nodes[rank].size() ? nodes[rank].substr(end + 1).c_str() : "");
        REQUIRE(ucg_context_create(nullptr, &contexts[rank]) == UCS_OK);
        ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
        params.oob = board_->oob(rank);
        REQUIRE(ucg_group_create(contexts[rank], &params, &groups[rank]) == UCS_OK);
    }
    REQUIRE(wait(*this, groups) == UCS_OK);
}

world::~world() {
    for (const ucg_group_h each : groups)
        ucg_group_destroy(each);
    for (const ucg_context_h each : contexts)
        ucg_context_destroy(each);
}

void world::progress() {
    for (std::uint32_t rank = 0; rank < size(); ++rank)
        if (!frozen_[rank]) ucg_progress(contexts[rank]);
}

bool world::run_until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!done()) {
        if (std::chrono::steady_clock::now() > limit) return false;
        progress();
    }
    return true;
}

ucs_status_t world::wait(world& in, const std::vector<ucg_group_h>& all) {
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

requests::~requests() {
    for (const ucg_request_h each : all_)
        CHECK(ucg_request_free(each) == UCS_OK);
}

void requests::add(std::uint32_t rank, const ucg_coll_args_t& args) {
    ucg_request_h made = nullptr;
    REQUIRE(ucg_request_init(in_.groups[rank], &args, &made) == UCS_OK);
    all_.push_back(made);
}

void requests::start() {
    for (const ucg_request_h each : all_)
        REQUIRE(ucg_request_start(each) == UCS_OK);
}

bool requests::over() const {
    for (const ucg_request_h each : all_)
        if (ucg_request_test(each) == UCS_INPROGRESS) return false;
    return true;
}

ucs_status_t requests::run() {
    start();
    REQUIRE(in_.run_until([this] { return over(); }));
    for (const ucg_request_h each : all_)
        if (ucg_request_test(each) != UCS_OK) return ucg_request_test(each);
    return UCS_OK;
}

}  // namespace test
