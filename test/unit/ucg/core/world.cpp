#include "test/unit/ucg/core/world.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <utility>

#include "test/support/environment.hpp"

namespace test {

board::board(std::uint32_t size) : seats_(size), members_(size) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        seats_[rank] = {this, rank};
        members_[rank] = {sizeof(ucg_oob_t), rank,    size,    allgather, test,    release,
                          &seats_[rank],     publish, look_up, withdraw,  progress};
    }
}

ucs_status_t board::allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                              void** request) {
    seat& self = *static_cast<seat*>(arg);
    board& of = *self.of;
    const std::size_t round = self.rounds++;
    if (of.said_.size() <= round) of.said_.resize(round + 1);
    auto& said = of.said_[round];
    said.resize(of.seats_.size());
    const auto* const first = static_cast<const std::byte*>(send);
    if (!self.silent) said[self.rank].assign(first, first + bytes);
    self.recv = recv;
    self.bytes = bytes;
    *request = arg;
    return UCS_OK;
}

ucs_status_t board::test(void* arg, void*) {
    seat& self = *static_cast<seat*>(arg);
    const auto& said = self.of->said_[self.rounds - 1];
    for (const auto& each : said)
        if (each.size() != self.bytes) return UCS_INPROGRESS;
    auto* into = static_cast<std::byte*>(std::exchange(self.recv, nullptr));
    if (into == nullptr) return UCS_OK;  // it has ended before
    for (const auto& each : said) {
        std::memcpy(into, each.data(), each.size());
        into += each.size();
    }
    return UCS_OK;
}

// The memory of a round that has not ended is the exchange's until here.
void board::release(void* arg, void*) {
    const seat& self = *static_cast<seat*>(arg);
    if (self.recv != nullptr) std::memset(self.recv, 0, self.of->seats_.size() * self.bytes);
}

ucs_status_t board::publish(void* arg, const void* block, std::size_t bytes,
                            std::uint64_t* number) {
    seat& self = *static_cast<seat*>(arg);
    board& of = *self.of;
    *number = self.published++;
    if (of.published_.size() < self.published) of.published_.resize(self.published);
    auto& all = of.published_[*number];
    all.resize(of.seats_.size());
    const auto* const first = static_cast<const std::byte*>(block);
    all[self.rank].assign(first, first + bytes);
    ++of.open_;
    return UCS_OK;
}

ucs_status_t board::look_up(void* arg, std::uint64_t number, std::uint32_t rank, void* block,
                            std::size_t* bytes) {
    board& of = *static_cast<seat*>(arg)->of;
    if (of.lost_) return UCS_ERR_CONNECTION_RESET;
    if (of.delay_ != 0 && ++of.turns_ % (of.delay_ + 1) != 0) return UCS_INPROGRESS;
    const auto& found = of.published_.at(number).at(rank);
    if (found.empty()) return UCS_ERR_NO_ELEM;
    if (found.size() > *bytes) return UCS_ERR_BUFFER_TOO_SMALL;
    std::ranges::copy(found, static_cast<std::byte*>(block));
    *bytes = found.size();
    ++of.answers_;
    return UCS_OK;
}

ucs_status_t board::withdraw(void* arg, std::uint64_t) {
    board& of = *static_cast<seat*>(arg)->of;
    if (of.asking_) return UCS_INPROGRESS;
    --of.open_;
    return UCS_OK;
}

void board::progress(void*) {}

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
        params.oob = over.of(rank);
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
    const test::env by("UCX_TLS", transports);
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        const std::size_t end = std::min(nodes[rank].find('/'), nodes[rank].size());
        const test::env node("UCG_NODE_ID", nodes[rank].substr(0, end).c_str());
        const test::env numa("UCG_NUMA_ID",
                             end < nodes[rank].size() ? nodes[rank].substr(end + 1).c_str() : "");
        REQUIRE(ucg_context_create(nullptr, &contexts[rank]) == UCS_OK);
        ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
        params.oob = board_->of(rank);
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
