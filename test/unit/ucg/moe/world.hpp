// All ranks of a group in one process with their inputs, for tests of dispatch and combine.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>

#include "test/support/moe_reference.hpp"
#include "test/support/sanitizer.hpp"
#include "ucg/moe/normal/notify.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/sim/network.hpp"

namespace test::moe {

// Returns whether a test may take minutes: contrib/run-tests --long, without sanitizers.
[[nodiscard]] inline bool has_time() noexcept {
    constexpr int seeds_of_long_runs = 100;
    const char* const seeds = std::getenv("HAWSER_SEEDS");
    return !instrumented && seeds != nullptr && std::atoi(seeds) >= seeds_of_long_runs;
}

using ucg::moe::choices;
using ucg::moe::const_matrix;
using ucg::moe::matrix;
using ucg::schedule::placement;
using ucg::schedule::rank_t;
namespace reduce = ucg::reduce;

enum class gate {
    even,        // different experts, each equally likely
    skewed,      // mostly experts of the first ranks
    one_rank,    // all experts of one rank
    with_holes,  // some choices are -1; some tokens have no other choices
    repeated,    // the same expert may be chosen twice
};

struct scenario {
    rank_t ranks = 4;
    rank_t ranks_per_node = 2;
    std::vector<std::uint64_t> nodes{};  // node of each rank; empty: ranks_per_node on each node
    std::uint32_t experts = 8;
    std::uint32_t k = 2;
    std::uint32_t hidden = 16;
    std::uint32_t tokens = 20;  // maximum number of tokens of a rank
    bool uneven = true;         // ranks have different numbers of tokens, some of them none
    gate gate_kind = gate::even;
    ucg::moe::settings settings{4, 1, ucg::moe::route::relayed, 8192, {}};
    std::vector<std::uint8_t> masked{};
    std::uint64_t seed = 1;
    bool disorder = false;  // random delays, and the simulator checks the use of buffers
};

[[nodiscard]] std::string text(const scenario& setup);

// Returns a scenario whose numbers of experts and choices differ between numbers of ranks.
[[nodiscard]] inline scenario group_of(rank_t ranks, rank_t per_node) {
    scenario setup{.ranks = ranks, .ranks_per_node = per_node, .experts = ranks * (1 + ranks % 3)};
    setup.k = std::min(setup.experts, 1 + ranks % 5);
    setup.seed = ranks;
    setup.gate_kind = static_cast<gate>(ranks % 5);
    return setup;
}

// Returns the scenario with 9 ranks on nodes of different sizes, with ranks that are not contiguous
// and with random delays.
[[nodiscard]] scenario on_scattered_nodes(scenario setup);
// Returns the scenario with 8 ranks on two nodes: once with masked ranks on both nodes, once with a
// masked node.
[[nodiscard]] std::vector<scenario> with_masks(scenario setup);

// Returns a random number that depends only on the arguments.
[[nodiscard]] std::uint64_t mix(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0);

// All ranks with their choices on a simulated network.
class world {
public:
    explicit world(const scenario& setup);

    [[nodiscard]] const scenario& setup() const noexcept { return setup_; }
    [[nodiscard]] bool lives(rank_t rank) const noexcept { return gates_.lives(rank); }
    [[nodiscard]] const gating& gates() const noexcept { return gates_; }
    [[nodiscard]] std::uint32_t tokens(rank_t rank) const noexcept { return gates_.tokens(rank); }
    [[nodiscard]] bool goes(rank_t source, std::uint32_t token, rank_t to) const {
        return gates_.goes({source, token}, to);
    }
    [[nodiscard]] std::uint32_t channel_of(rank_t source, std::uint32_t token) const;
    // The ranks that are not masked.
    [[nodiscard]] std::vector<rank_t> living() const { return gates_.living(); }
    // Those of them on a node.
    [[nodiscard]] std::vector<rank_t> living_on(rank_t node) const;
    // The relay of a rank on another node, or itself.
    [[nodiscard]] rank_t relay_of(rank_t source, rank_t node) const;
    [[nodiscard]] const_matrix topk(rank_t rank) const;
    [[nodiscard]] const placement& node_placement() const noexcept { return placement_; }
    [[nodiscard]] std::shared_ptr<const ucg::moe::team> team(rank_t rank) const {
        return teams_[rank];
    }
    [[nodiscard]] ucg::sim::network& net() noexcept { return *net_; }

    // Runs one program on each rank; masked ranks have null. Returns the status of each rank.
    std::vector<ucs_status_t> run(const std::vector<ucg::schedule::program*>& programs);
    void run_well(const std::vector<ucg::schedule::program*>& programs);

    // Returns the plans of all ranks; null for masked ranks.
    [[nodiscard]] std::vector<std::shared_ptr<const ucg::moe::plan>> plans();

private:
    void choose(rank_t rank, std::uint32_t tokens);

    scenario setup_;
    placement placement_;
    std::unique_ptr<ucg::sim::network> net_;
    gating gates_;
    std::vector<std::shared_ptr<const ucg::moe::team>> teams_;
    // Operations of dead ranks never end. All operations are destroyed before the network.
    std::deque<std::deque<ucg::schedule::operation>> rounds_;
};

// A program of each rank that is not masked.
template<class Program>
struct on_all {
    std::deque<Program> each;
    std::vector<ucg::schedule::program*> programs;  // null for masked ranks

    // Calls init(program, rank), which must return UCS_OK.
    template<class Init>
    on_all(const world& all, const Init& init) : each(all.setup().ranks), programs(each.size()) {
        for (const rank_t rank : all.living()) {
            REQUIRE(init(each[rank], rank) == UCS_OK);
            programs[rank] = &each[rank];
        }
    }
};

// The notify of each rank, with its own choices.
[[nodiscard]] on_all<ucg::moe::notify> notify_on_all(const world& all);

// A matrix that owns its memory, with chosen strides.
class own_matrix {
public:
    own_matrix() = default;
    // `gap`: unused elements behind each row; `apart`: stride of elements.
    own_matrix(std::uint64_t rows, std::uint32_t elements, reduce::element type,
               std::uint32_t gap = 0, std::uint32_t apart = 1);
    // Fills in random bits; floating-point numbers have moderate magnitudes.
    void fill(std::uint64_t seed) { fill_rows(seed, 0, rows_); }
    void fill_rows(std::uint64_t seed, std::uint64_t first, std::uint64_t count);
    // Fills in a pattern that no test writes.
    void spoil();
    [[nodiscard]] matrix view() noexcept;
    [[nodiscard]] const_matrix view() const noexcept;
    // The rows divided among experts.
    [[nodiscard]] ucg::moe::stack stack(std::uint64_t rows_of_expert) noexcept;
    // Returns the bytes of a row without the gaps between elements.
    [[nodiscard]] std::vector<std::byte> row(std::uint64_t i) const;
    [[nodiscard]] float real(std::uint64_t row, std::uint32_t element) const;

private:
    std::uint64_t rows_ = 0;
    std::uint32_t elements_ = 0;
    reduce::element type_ = reduce::element::bf16;
    std::uint32_t gap_ = 0, apart_ = 1;
    std::vector<std::byte> memory_;
};

// Conversions of the reference, which share no code with the library.
[[nodiscard]] float widened(reduce::element type, const std::byte* from);
void put_rounded(reduce::element type, float value, std::byte* into);

}  // namespace test::moe
