// Tests the tables, plots and details that ucg_sim prints.
#include "tools/ucg_sim/sweep.hpp"

#include <catch2/catch.hpp>

using namespace tools::ucg_sim;
using namespace ucg::sim;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t offset = text.find(part); offset != std::string::npos;
         offset = text.find(part, offset + 1))
        ++found;
    return found;
}

trace_step message(ucg::schedule::rank_t from, ucg::schedule::rank_t to, std::uint64_t bytes,
                   ucg::sim::time_t until) {
    return {trace_kind::message, {}, true, to, from, bytes, until, 2 * static_cast<double>(bytes)};
}

}  // namespace

TEST_CASE("ucg_sim: a table has a column for each algorithm and marks the fastest") {
    sweep all(false);
    all.add(8, "ring", 20e-6, false);
    all.add(8, "tree", 5e-6, true);
    all.add(4096, "ring", 250e-6, true);
    CHECK(all.table() ==
          "| bytes | ring | tree |\n| --- | --- | --- |\n| 8 | 20.0 | **5.0** * |\n"
          "| 4 K | **250** * |  |\n");
}

TEST_CASE("ucg_sim: a plot has a line and a name for each algorithm, inside the axes") {
    sweep all(true);
    for (double ranks = 2; ranks <= 1024; ranks *= 2) {
        all.add(ranks, "ring", ranks * 1e-6, false);
        all.add(ranks, "a<b", 3e-6, true);
    }
    all.add(0, "none", 1e-6, false);
    const std::string text = svg_text(all.figure("a plot"));
    CHECK(count_of(text, "<path") == 2);
    CHECK(count_of(text, "<circle") == 20);
    CHECK(count_of(text, "a&lt;b") == 1);
    CHECK(count_of(text, "a<b") == 0);
    CHECK(count_of(text, "nan") == 0);
    CHECK(text.find("</svg>") != std::string::npos);
    CHECK(count_of(svg_text({}), "<path") == 0);
}

TEST_CASE("ucg_sim: ports of consecutive nodes with equal traffic take one line") {
    const ucg::sim::traffic nodes[] = {{5, 7}, {5, 7}, {5, 7}, {5, 8}, {0, 1e12}};
    const std::string text = ports_text(nodes);
    CHECK(count_of(text, "\n") == 4);
    CHECK(count_of(text, "    0-2                            5               7\n") == 1);
    CHECK(count_of(text, "    3                              5               8\n") == 1);
    CHECK(count_of(text, "    4                              0   1000000000000\n") == 1);
    CHECK(ports_text({}).empty());
}

TEST_CASE("ucg_sim: steps that repeat take one line") {
    std::vector<trace_step> steps;
    for (unsigned i = 0; i < 5; ++i) {
        steps.push_back(message(i, i + 1, 1000 + i, (i + 1) * 2'000'000));
        steps.push_back(
            {trace_kind::reduce, {}, false, i + 1, i + 1, 1000, (i + 1) * 2'500'000, 2000});
    }
    steps.push_back(message(5, 0, 64, 14'000'000));
    const std::string text = steps_text(steps);
    CHECK(count_of(text, "\n") == 3);
    CHECK(count_of(text, "5 x message of 2000 bytes between nodes, reduce 2000 bytes") == 1);
    CHECK(count_of(text, "rank 0 -> 1 -> 2 -> 3 -> 4 -> 5\n") == 1);
    CHECK(count_of(text, "14.00  message of 128 bytes between nodes; rank 5 -> 0\n") == 1);
    CHECK(steps_text({}).empty());
}
