#include "tools/common/standard_options.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using namespace tools;

namespace {

standard_options read(const option_set& known, const std::vector<std::string>& words) {
    option_scanner scanner(words, known);
    standard_options found;
    while (const auto option = scanner.next())
        found.take(*option);
    return found;
}

const option_set own{"f", "s", {{"size", 's'}}};

}  // namespace

TEST_CASE("every tool has help and version") {
    CHECK(read(with_standard_options(own), {"-h"}).help);
    CHECK(read(with_standard_options(own), {"-f", "--help"}).help);
    CHECK(read(with_standard_options(own), {"--version"}).version);
    CHECK_FALSE(read(with_standard_options(own), {"-f", "--size", "8"}).only_text());
    CHECK_THROWS_AS(read(with_standard_options(own), {"--json"}), usage_error);
}

TEST_CASE("tools that print results have one form of output") {
    CHECK(read(with_report_options(own), {}).form == output_form::text);
    CHECK(read(with_report_options(own), {"--csv", "--csv"}).form == output_form::csv);
    CHECK(read(with_report_options(own), {"--json"}).form == output_form::json);
    CHECK_THROWS_WITH(read(with_report_options(own), {"--json", "--csv"}),
                      "--csv and --json exclude each other");
}

TEST_CASE("the tool's own options are left to the tool") {
    standard_options none;
    CHECK_FALSE(none.take({'f', {}}));
    CHECK_FALSE(none.take({'s', "8"}));
}
