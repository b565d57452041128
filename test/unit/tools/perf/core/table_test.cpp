#include "tools/perf/core/table.hpp"

#include <catch2/catch.hpp>

using namespace tools::perf;

namespace {

constexpr measurement sample{781446, 0.492, 0.638, 0.638, 11.95, 11.95, 1566230, 1566229.7};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t column = 0; column < text.size();) {
        const std::size_t end = text.find('\n', column);
        lines.push_back(text.substr(column, end - column));
        column = end + 1;
    }
    return lines;
}

}  // namespace

// Scripts for ucx_perftest parse these lines, so columns must not move.
TEST_CASE("the table has the columns that scripts parse") {
    const auto lines = lines_of(table_header({}, quantity::latency, 50, {}));
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] ==
          "+--------------+--------------+------------------------------+---------------------"
          "+-----------------------+");
    CHECK(lines[1] ==
          "|              |              |        latency (usec)        |   bandwidth (MB/s)  "
          "|  message rate (msg/s) |");
    CHECK(lines[3] ==
          "|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |"
          "  average  |  overall  |");
    CHECK(lines_of(table_header({}, quantity::operation, 50, {})) == lines);
    const auto final_only =
        lines_of(table_header({.final_only = true}, quantity::bandwidth, 99.9, {"tests"}));
    CHECK(final_only[1] ==
          "|              |              |       overhead (usec)        |   bandwidth (MB/s)  "
          "|  message rate (msg/s) |");
    CHECK(final_only[3] ==
          "|     Test     | # iterations | 99.9%ile | average | overall |  average |  overall |"
          "  average  |  overall  |");
}

TEST_CASE("rows stand below the columns") {
    CHECK(progress_row({}, 0, sample) ==
          "[thread 0]            781446      0.492     0.638     0.638       11.95      11.95     "
          "1566230     1566230\n");
    CHECK(final_row({}, 1, {}, sample, "") ==
          "Final:                781446      0.492     0.638     0.638       11.95      11.95     "
          "1566230     1566230\n");
    CHECK(
        final_row({}, 2, {}, {3000000, 0, 0, 1.382, 0, 11.04, 0, 1446796}, "") ==
        "Final:               3000000                         1.382                  11.04        "
        "          1446796\n");
    CHECK(final_row({.thousands = true}, 1, {}, sample, "note") ==
          "Final:               781,446      0.492     0.638     0.638       11.95      11.95   "
          "1,566,230   1,566,230  note\n");
}

TEST_CASE("names of batch tests are in the row or above it") {
    CHECK(final_row({.final_only = true}, 1, {"lat8", "n1"}, sample, "").substr(0, 28) ==
          "   lat8/n1            781446");
    CHECK(batch_title({}, {"lat8", "n1"}, "3 of 96") ==
          "+lat8/n1 (3 of 96)------------+----------+---------+---------+----------+----------+"
          "-----------+-----------+\n");
    CHECK(batch_title({.final_only = true}, {"lat8"}, "1 of 2").empty());
    CHECK(batch_title({}, {}, "1 of 1").empty());
    CHECK(lines_of(batch_title({}, {std::string(500, 'x')}, "1 of 2")).front().size() == 108);
}

TEST_CASE("CSV has a name per batch file and eight numbers, for any number of threads") {
    const table_style csv{.form = tools::output_form::csv};
    CHECK(table_header(csv, quantity::latency, 50, {"b1", "b2"}) ==
          "b1,b2,iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,"
          "overall_mr\n");
    CHECK(final_row(csv, 1, {"lat8", "n1"}, sample, "") ==
          "lat8,n1,781446,0.492,0.638,0.638,11.95,11.95,1566230,1566230\n");
    CHECK(final_row(csv, 2, {}, sample, "") == "781446,,,0.638,,11.95,,1566230\n");
    CHECK(progress_row(csv, 0, sample).empty());
}

TEST_CASE("quiet leaves out everything but rows") {
    CHECK(table_header({.quiet = true}, quantity::latency, 50, {}).empty());
    CHECK(batch_title({.quiet = true}, {"lat8"}, "1 of 2").empty());
    CHECK(table_header({.form = tools::output_form::csv, .quiet = true}, quantity::latency, 50, {})
              .empty());
    CHECK_FALSE(final_row({.quiet = true}, 1, {}, sample, "").empty());
}

TEST_CASE("all lines of the server's box have the width of the table") {
    const auto lines = lines_of(server_box({"tag match latency", 8, ""}, true));
    CHECK(lines.size() == 8);
    for (const std::string& line : lines)
        CHECK(line.size() == 108);
    CHECK(lines[2].substr(0, 33) == "| Test:         tag match latency");
    CHECK(lines_of(server_box({"tag match latency", 8, "a/b"}, false)).size() == 8);
}
