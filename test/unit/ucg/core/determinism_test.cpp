// Tests that deterministic reductions have the same bits for every length and placement.

#include "test/unit/ucg/core/world.hpp"

namespace {

constexpr std::uint32_t ranks = 5;

// A rank's element, whose place among the others says nothing: values repeat.
float element(std::uint32_t rank, std::uint64_t place) {
    constexpr float values[] = {1e8F, -1.7F, 3.3e-3F, -1e8F, 12345.678F, 0.1F, 9.9e7F};
    return values[(rank * 3 + place % 11) % 7] * static_cast<float>(1 + rank);
}

// Returns the first eleven elements of the root (or of the first rank), and checks that the others
// repeat them.
std::vector<float> reduced(test::world& in, ucg_coll_t coll, std::uint64_t count) {
    std::vector<std::vector<float>> from(ranks, std::vector<float>(count)), into = from;
    test::requests all(in);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint64_t i = 0; i < count; ++i)
            from[rank][i] = element(rank, i);
        ucg_coll_args_t args =
            test::call_of(coll, from[rank].data(), into[rank].data(), count, UCG_TYPE_FP32);
        args.flags = UCG_COLL_DETERMINISTIC;
        all.add(rank, args);
    }
    REQUIRE(all.run() == UCS_OK);
    for (std::uint64_t i = 11; i < count; ++i)
        if (std::memcmp(&into[0][i], &into[0][i - 11], sizeof(float)) != 0)
            FAIL(count << " elements: element " << i
                       << " has other bits than one of the same input");
    into[0].resize(11);
    return into[0];
}

}  // namespace

TEST_CASE("deterministic sums have the same bits for every length and on any nodes") {
    const std::vector<std::string> placements[] = {{"a", "a", "a", "a", "a"},
                                                   {"a", "b", "c", "d", "e"},
                                                   {"a", "a", "b", "b", "c"},
                                                   {"a", "b", "a", "b", "b"},
                                                   {"a/0", "a/0", "a/1", "a/1", "b"}};
    for (const ucg_coll_t coll : {UCG_COLL_ALLREDUCE, UCG_COLL_REDUCE}) {
        std::vector<float> first;
        for (const auto& nodes : placements) {
            test::world in(nodes, "tcp,self");
            for (const std::uint64_t count : {11U, 1000U, 100'000U}) {
                const std::vector<float> found = reduced(in, coll, count);
                if (first.empty()) first = found;
                INFO(ucg_coll_name(coll) << ", " << count << " elements, nodes "
                                         << nodes[0] + nodes[1] + nodes[2] + nodes[3] + nodes[4]);
                CHECK(std::memcmp(found.data(), first.data(), 11 * sizeof(float)) == 0);
            }
        }
    }
}
