#include "tools/perf/core/size_list.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using namespace tools::perf;
using sizes = std::vector<std::size_t>;

TEST_CASE("size lists have units and repetitions") {
    CHECK(parse_size_list("8") == sizes{8});
    CHECK(parse_size_list("0") == sizes{0});
    CHECK(parse_size_list("16,1k,14") == sizes{16, 1024, 14});
    CHECK(parse_size_list("1024:3,8") == sizes{1024, 1024, 1024, 8});
}

TEST_CASE("wrong size lists are usage errors") {
    for (const char* wrong :
         {"", "abc", "8,", ",8", "8:0", "8:", "8:x", ":4", "-1", "8:5000", "2t", "1t,1"}) {
        INFO(wrong);
        CHECK_THROWS_AS(parse_size_list(wrong), tools::usage_error);
    }
}

TEST_CASE("the total of a size list cannot overflow") {
    CHECK_THROWS_AS(parse_size_list("512g:4096"), tools::usage_error);
    CHECK(parse_size_list("256m:4096").size() == 4096);
}

TEST_CASE("size lists survive printing") {
    for (const char* text : {"8", "16,48,8192:2,14", "1024:16", "0:2,1"}) {
        CHECK(print_size_list(parse_size_list(text)) == text);
    }
}
