#include "tools/common/command_line.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using namespace tools;

namespace {

enum class color { red, green, blue };

struct settings {
    standard_options standard;
    bool full = false;
    bool verbose = false;
    std::uint32_t size = 0;
    std::optional<std::uint64_t> count;
    double ratio = 0.5;
    color shade = color::red;
    std::string mode;
    std::vector<std::string> operands;

    std::vector<option_row> rows() {
        return {
            help_line("usage: tool"),
            flag("-f, --full", full, "everything"),
            flag("-v", verbose, "more"),
            value("-s, --size BYTES", size, byte_size{}, "bytes of a part"),
            value("-n COUNT", count, number{1, 99}, "parts"),
            value("-r RATIO", ratio, real{0, 1, "a part of the whole"}, ""),
            value("--shade NAME", shade, one_of{{"red", "green", "blue"}, "color "}, "of all"),
            {"-e [mode]",
             "errors",
             [this](std::string_view text) { mode = std::string(text) + "!"; },
             {},
             {"none", "peer"}},
            {"-s PART", "only shown"},
            refuse("-M", "this is not in this build"),
            csv_option("-c, --csv", standard),
            json_option(standard),
            help_option(standard),
            version_option(standard, "the version"),
        };
    }
};

settings read(const std::vector<std::string>& words) {
    settings made;
    made.operands = parse(made.rows(), words);
    return made;
}

using words = std::vector<std::string>;

}  // namespace

TEST_CASE("options stand in any order around operands") {
    for (const words& given : {words{"host", "-f", "-s", "8"},
                               {"-s8", "host", "-f"},
                               {"-fs", "8", "host"},
                               {"--full", "host", "--size", "8"},
                               {"--size=8", "-f", "--", "host"}}) {
        const settings found = read(given);
        CHECK((found.full && !found.verbose && found.size == 8));
        CHECK(found.operands == words{"host"});
    }
    CHECK(read({"-", "--", "-v", "--full"}).operands == words{"-", "-v", "--full"});
    CHECK(read({"-fv"}).verbose);
    CHECK_THROWS_WITH(([] {
                          settings made;
                          parse_options_only(made.rows(), words{"host"});
                      })(),
                      "\"host\" is not an option");
}

TEST_CASE("values are checked, and the error names the option") {
    CHECK(read({"-n", "99", "-r", "0.25", "--shade=blue"}).shade == color::blue);
    const std::pair<words, std::string> wrong[] = {
        {{"-x"}, "unknown option -x"},
        {{"-fx"}, "unknown option -x"},
        {{"-f", "-s"}, "option -s needs a value"},
        {{"--size"}, "option --size needs a value"},
        {{"--full=1"}, "option --full takes no value"},
        {{"--ful"}, "unknown option --ful; did you mean --full?"},
        {{"--elsewhere"}, "unknown option --elsewhere"},
        {{"---full"}, "unknown option ---full; did you mean --full?"},
        {{"-s", "-8"}, "-s: \"-8\" is not a size up to 1t"},
        {{"--size="}, "-s: \"\" is not a size up to 1t"},
        {{"-n0"}, "-n: \"0\" is not a number from 1 to 99"},
        {{"-r", "2"}, "-r: \"2\" is not a part of the whole"},
        {{"--shade", "rde"},
         "--shade: color \"rde\" is none of: red, green, blue; did you mean \"red\"?"},
        {{"-M"}, "-M: this is not in this build"},
        {{"--json", "-c"}, "--csv and --json exclude each other"},
    };
    for (const auto& [given, reason] : wrong)
        CHECK_THROWS_WITH(read(given), reason);
}

TEST_CASE("an optional value is taken only when it is one of the known words") {
    CHECK(read({"-e", "peer"}).mode == "peer!");
    CHECK(read({"-e", "host"}).mode == "!");
    CHECK(read({"-e", "host"}).operands == words{"host"});
    CHECK(read({"-ef"}).full);
    CHECK(read({"-e"}).mode == "!");
}

TEST_CASE("help and version end the command line; tools have one form of output") {
    CHECK(read({"-h", "-x"}).standard.help);
    CHECK(read({"-fhx", "-x"}).standard.help);
    CHECK(read({"--version", "--size"}).standard.version);
    CHECK(read({"stray", "-h"}).operands.empty());
    CHECK_FALSE(read({"-f"}).standard.only_text());
    CHECK(read({}).standard.form == output_form::text);
    CHECK(read({"--csv", "-c"}).standard.form == output_form::csv);
    CHECK(read({"--json"}).standard.form == output_form::json);
}

TEST_CASE("values become words and back") {
    settings none;
    CHECK(to_words(none.rows()) == words{"-r", "0.500000", "--shade", "red"});
    settings some = read({"-f", "-n7", "--shade", "green"});
    const words made = to_words(some.rows());
    CHECK(made == words{"-f", "-n", "7", "-r", "0.500000", "--shade", "green"});
    settings again = read(made);
    CHECK(to_words(again.rows()) == made);
}

TEST_CASE("lists of numbers have ranges") {
    using numbers = std::vector<std::uint64_t>;
    const number_list doubling{byte_size{}, ':', 2, true};
    CHECK(doubling("8,1k:4k,5:40:3") == numbers{8, 1024, 2048, 4096, 5, 15});
    CHECK(doubling("0,7:13") == numbers{0, 7});
    CHECK(parse_cpus("0,2-4") == std::vector<unsigned>{0, 2, 3, 4});
    for (const char* const wrong : {"", "8:", "0:8", "64:8", "8:64:1", "1:2:3:4", "8-9"})
        CHECK_THROWS_AS(doubling(wrong), usage_error);
    for (const char* const wrong : {"", "3-1", "1-2-3", "x", "65537", "1,"})
        CHECK_THROWS_AS(parse_cpus(wrong), usage_error);
}

TEST_CASE("the help has two columns of 100 characters together") {
    bool set = false;
    const std::string long_help(40, 'a');
    const std::string text = long_help + ' ' + long_help + ' ' + long_help;
    CHECK(help({help_line("usage: tool\n"), flag("-f, --full", set, "everything"),
                flag("-x", set, ""), flag("-l, --longer-name", set, text)}) ==
          "usage: tool\n\n  -f, --full   everything\n  -l, --longer-name\n               " +
              long_help + ' ' + long_help + "\n               " + long_help + '\n');
}

TEST_CASE("a tool's exit status tells wrong use from failed work") {
    CHECK(run_tool("tool", [] { return 0; }) == 0);
    CHECK(run_tool("tool", []() -> int { throw usage_error("a mistake"); }) == exit_usage);
    CHECK(run_tool("tool", []() -> int { throw failure("no luck"); }) == exit_failure);
}
