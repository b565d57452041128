#include "tools/common/option_scanner.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using tools::option_scanner;

namespace {

// Returns the options and operands that a scanner found: "f s=8 | host".
std::string scan(const std::vector<std::string>& arguments) {
    option_scanner scanner(arguments, "fv", "sn");
    std::string found;
    while (const auto option = scanner.next()) {
        found += option->letter;
        if (!option->value.empty()) found += "=" + option->value;
        found += ' ';
    }
    for (const std::string& operand : scanner.operands())
        found += "| " + operand;
    return found;
}

}  // namespace

TEST_CASE("options stand in any order around operands") {
    CHECK(scan({"host", "-f", "-s", "8"}) == "f s=8 | host");
    CHECK(scan({"-s8", "host", "-v"}) == "s=8 v | host");
    CHECK(scan({"-fvs", "8,9"}) == "f v s=8,9 ");
    CHECK(scan({"-s", "-8"}) == "s=-8 ");
}

TEST_CASE("two dashes end the options, one is an operand") {
    CHECK(scan({"-f", "--", "-v"}) == "f | -v");
    CHECK(scan({"-"}) == "| -");
}

TEST_CASE("long names stand for letters, their values follow after a blank or an equals sign") {
    const auto scan_long = [](const std::vector<std::string>& arguments) {
        option_scanner scanner(arguments, {"f", "s", {{"full", 'f'}, {"size", 's'}}});
        std::string found;
        while (const auto option = scanner.next())
            found += option->letter + option->value + ' ';
        for (const std::string& operand : scanner.operands())
            found += "| " + operand;
        return found;
    };
    CHECK(scan_long({"--full", "host", "--size", "8", "--size=9", "-f"}) == "f s8 s9 f | host");
    CHECK(scan_long({"--size="}) == "s ");
    CHECK(scan_long({"--", "--full"}) == "| --full");
    CHECK_THROWS_WITH(scan_long({"--ful"}), "unknown option --ful; did you mean --full?");
    CHECK_THROWS_WITH(scan_long({"--elsewhere"}), "unknown option --elsewhere");
    CHECK_THROWS_WITH(scan_long({"--full=1"}), "option --full takes no value");
    CHECK_THROWS_WITH(scan_long({"--size"}), "option --size needs a value");
    CHECK_THROWS_AS(scan_long({"---full"}), tools::usage_error);
}

TEST_CASE("errors name unknown letters and missing values") {
    CHECK_THROWS_WITH(scan({"-x"}), "unknown option -x");
    CHECK_THROWS_WITH(scan({"-f", "-s"}), "option -s needs a value");
    CHECK_THROWS_AS(scan({"-fx"}), tools::usage_error);
}

TEST_CASE("an optional value is taken only when it is one of the known words") {
    const std::vector<std::string> with{"-f", "peer"};
    option_scanner first(with, "f", "");
    REQUIRE(first.next());
    CHECK(first.take_if_one_of({"none", "peer"}) == "peer");

    const std::vector<std::string> without{"-f", "host"};
    option_scanner second(without, "f", "");
    REQUIRE(second.next());
    CHECK_FALSE(second.take_if_one_of({"none", "peer"}).has_value());
    CHECK_FALSE(second.next());
    CHECK(second.operands() == std::vector<std::string>{"host"});
}
