#include "tools/perf/core/test_options.hpp"

#include <catch2/catch.hpp>

#include "test/unit/tools/words_of.hpp"
#include "tools/common/failure.hpp"

using namespace tools::perf;

namespace {

test_params parse(const std::vector<std::string>& words) {
    test_params params;
    apply_test_words(params, words);
    return params;
}

test_params parse(std::string_view line) {
    return parse(words_of(line));
}

}  // namespace

TEST_CASE("every option of a test reaches its parameter") {
    const test_params params = parse(
        "-t tag_bw -s 8:2 -i 16 -n 7 -w 3 -O 9 -R 99.9 -T 2,shared -M multi -D iov,contig -r "
        "recv_data -e peer -C -U -V -X -H 24 -y -z");
    CHECK(params.test == "tag_bw");
    CHECK(params.pieces == std::vector<std::size_t>{8, 8});
    CHECK(params.stride == 16);
    CHECK(params.iterations == 7);
    CHECK(params.warmup == 3);
    CHECK(params.outstanding == 9);
    CHECK(params.rank == 99.9);
    CHECK(params.threads == 2);
    CHECK(params.shared_worker);
    CHECK(params.threading == thread_mode::multi);
    CHECK(params.send_layout == layout::iov);
    CHECK(params.recv_layout == layout::contig);
    CHECK(params.receive == receive_mode::recv_data);
    CHECK(params.errors == error_handling::peer);
    CHECK(params.header == 24);
    CHECK(params.extra_copy);
    CHECK(params.memory_handles);
    CHECK((params.wildcard && params.unexpected && params.validate && params.extra_info));
}

TEST_CASE("parameters round-trip through words") {
    const test_params sent = parse(
        "-t tag_lat -s 1k:16,3 -i 2048 -n 5 -R 12.5 -T 3,shared -M multi -D contig,iov -e -U -V -H "
        "8 -y -z");
    CHECK(to_words(parse(to_words(sent))) == to_words(sent));
    CHECK(parse(to_words(sent)).pieces == sent.pieces);
    CHECK(to_words(parse(to_words(test_params{}))) == to_words(test_params{}));
}

TEST_CASE("options of a transport reach their parameters on both sides") {
    const test_params given = parse("-x tcp -d lo -D bcopy -W 16");
    for (const test_params& params : {given, parse(to_words(given))}) {
        CHECK(params.transport == "tcp");
        CHECK(params.device == "lo");
        CHECK(params.operation == send_operation::bcopy);
        CHECK(params.flow_window == 16);
        CHECK(params.send_layout == layout::contig);
    }
    CHECK_FALSE(parse("-D iov").operation.has_value());
}

TEST_CASE("a header of 0 bytes differs from no header option") {
    CHECK_FALSE(parse("").header.has_value());
    CHECK(parse("-H 0").header == 0);
    CHECK(parse(to_words(parse("-H 0"))).header == 0);
}

TEST_CASE("the mode of error handling is optional") {
    CHECK(parse("-e").errors == error_handling::peer);
    CHECK(parse("-e peer").errors == error_handling::peer);
    CHECK(parse("-e none").errors == error_handling::none);
    CHECK(parse("-e -C").wildcard);
}

TEST_CASE("sleeping needs workers with wake-up") {
    CHECK_FALSE(parse("").sleeps());
    CHECK_FALSE(parse("-E poll").sleeps());
    CHECK(parse("-E sleep").sleeps());
    CHECK(parse("-I").sleeps());
    CHECK(parse("-I").waiting == wait_mode::poll);
}

TEST_CASE("a single layout is that of the sender") {
    CHECK(parse("-D iov").send_layout == layout::iov);
    CHECK(parse("-D iov").recv_layout == layout::contig);
}

TEST_CASE("wrong values are refused") {
    for (const std::string_view wrong :
         tools::split("-n 0|-n many|-w -1|-O 70000|-R 100.5|-R x|-T 0|-T 2,other|-T 2,shared,|-M "
                      "some|-D iov,contig,iov|-D flat|-r recvs|-m cuda|-m host,host,host|-E "
                      "doze|-i -4|-H -1|-H 2000000|-W 0|-D bcopy,zcopy|stray",
                      '|')) {
        INFO(wrong);
        CHECK_THROWS_AS(parse(wrong), tools::usage_error);
    }
}

TEST_CASE("contradicting options are refused") {
    const auto checked = [](const std::string& line) { check(parse("-t tag_lat " + line)); };
    CHECK_NOTHROW(checked("-T 2,shared -M multi"));
    CHECK_NOTHROW(checked("-s 8:4 -i 8"));
    for (const char* const wrong :
         {"-T 2,shared", "-T 2,shared -M multi -C", "-T 2,shared -M multi -E sleep", "-s 8:4 -i 7",
          "-s 8:4096 -i 1099511627776"})
        CHECK_THROWS_AS(checked(wrong), tools::usage_error);
    CHECK_THROWS_AS(check(test_params{}), tools::usage_error);
}

TEST_CASE("message size, extent and warm-up follow from the parameters") {
    const test_params params = parse("-s 100,20 -i 128 -n 25 -w 10000");
    CHECK(params.message_size() == 120);
    CHECK(params.extent() == 148);
    CHECK(params.warmup_iterations() == 3);
    CHECK(parse("-n 1000000").warmup_iterations() == 10000);
}

TEST_CASE("options that a test does not support are refused by name") {
    test_params params;
    params.test = "stream_lat";
    CHECK_NOTHROW(refuse_unsupported(params, {}));
    params.receive = receive_mode::recv_data;
    CHECK_NOTHROW(refuse_unsupported(params, {.receive_modes = true}));
    CHECK_THROWS_WITH(refuse_unsupported(params, {}), Catch::Contains("-r recv_data"));
    CHECK_THROWS_WITH(refuse_unsupported(params, {}), Catch::Contains("stream_lat"));
}

TEST_CASE("each option has its own permission") {
    const std::pair<const char*, accepted_options> rows[] = {
        {"-C", {.matching = true}},
        {"-U", {.matching = true}},
        {"-H 0", {.header = true}},
        {"-y", {.extra_copy = true}},
        {"-x tcp", {.transport = true}},
        {"-d lo", {.transport = true}},
        {"-D bcopy", {.transport = true}},
        {"-W 5", {.transport = true}},
        {"-r recv_data", {.receive_modes = true}}};
    for (const auto& [line, accepted] : rows) {
        const test_params params = parse(line);
        CHECK_NOTHROW(refuse_unsupported(params, accepted));
        CHECK_THROWS_AS(refuse_unsupported(params, {}), tools::usage_error);
    }
}

TEST_CASE("memory handles are only for tests of registered memory") {
    test_params params;
    params.memory_handles = true;
    CHECK_NOTHROW(refuse_unsupported(params, {}));
    CHECK_THROWS_WITH(refuse_unsupported(params, {.handles = false}), Catch::Contains("-z"));
    CHECK_THROWS_WITH(refuse_unsupported(params, {.transport = true, .protocol = false}),
                      Catch::Contains("-z"));
}

TEST_CASE("tests of a transport refuse options of the protocol layer") {
    for (const char* const line : {"-T 2", "-M multi", "-e", "-D iov"}) {
        const test_params params = parse(line);
        CHECK_NOTHROW(refuse_unsupported(params, {}));
        CHECK_THROWS_AS(refuse_unsupported(params, {.protocol = false}), tools::usage_error);
    }
}

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
