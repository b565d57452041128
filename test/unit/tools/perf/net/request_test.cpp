#include "tools/perf/net/request.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"
#include "tools/perf/net/frame.hpp"

using namespace tools::perf;

namespace {

test_request parse(const std::vector<std::string>& words) {
    return parse_request(pack_strings(words));
}

}  // namespace

TEST_CASE("a test request round-trips") {
    test_request asked{"tag/8k", {}};
    asked.params.test = "tag_lat";
    asked.params.pieces = {8192, 3};
    const test_request read = parse_request(pack_request(asked));
    CHECK(read.label == "tag/8k");
    CHECK(to_words(read.params) == to_words(asked.params));
}

TEST_CASE("a label of a peer cannot control a terminal") {
    CHECK(parse({"a\x1b[2J\n", "-t", "tag_lat"}).label == "a?[2J?");
}

TEST_CASE("invalid test requests are refused") {
    CHECK_THROWS_AS(parse_request({}), tools::failure);
    auto cut = pack_strings(std::vector<std::string>{"label", "-t", "tag_lat"});
    cut.pop_back();
    CHECK_THROWS_AS(parse_request(cut), tools::failure);
    CHECK_THROWS_AS(parse({"label"}), tools::usage_error);
    CHECK_THROWS_AS(parse({"label", "-t"}), tools::usage_error);
    CHECK_THROWS_AS(parse({"label", "-t", "tag_lat", "-s", "0:0"}), tools::usage_error);
    CHECK_THROWS_AS(parse({"label", "-t", "tag_lat", "-b", "file"}), tools::usage_error);
}

TEST_CASE("the error for a request is printable") {
    for (const std::string& word : {std::string("\x1b[2J"), std::string("\xc2\x9b"),
                                    std::string("a\nb"), std::string(longest_word + 1, 'a')}) {
        CHECK_THROWS_WITH(parse({"label", "-t", word}),
                          "the client sent a test request with words that are not text");
    }
    // The error quotes the letter of an option, too.
    CHECK_THROWS_AS(parse({"label", "-\x1b"}), tools::failure);
}

TEST_CASE("the longest list of sizes is a word") {
    std::vector<std::size_t> pieces(max_pieces);
    for (std::size_t index = 0; index < pieces.size(); ++index)
        pieces[index] = max_message / max_pieces - index % 2;
    test_request asked{"", {}};
    asked.params.test = "tag_lat";
    asked.params.pieces = pieces;
    CHECK(parse_request(pack_request(asked)).params.pieces == pieces);
}
