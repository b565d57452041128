#include "ucs/config/ini_file.hpp"

#include <catch2/catch.hpp>
#include <random>

using ucs::config::parse_ini;

namespace {

const ucs::config::machine_facts milan{"AMD", "Milan"};

// "NAME=text@line" of each setting.
std::vector<std::string> settings(std::string_view text) {
    std::vector<std::string> found;
    for (const auto& each : parse_ini(text, milan).settings) {
        found.push_back(each.name + "=" + each.text + "@" + std::to_string(each.line));
    }
    return found;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("lines of ucx.conf with and without the prefix") {
    CHECK(settings("# comment\nUCX_TLS = tcp,self \r\n\n; more\nLOG_LEVEL=info\nEMPTY=") ==
          list{"TLS=tcp,self@2", "LOG_LEVEL=info@5", "EMPTY=@6"});
}

TEST_CASE("values keep further equal signs") {
    CHECK(settings("A=b=c") == list{"A=b=c@1"});
}

TEST_CASE("sections apply on the machines that they name") {
    const char* text =
        "A=1\n"
        "[Any]\nB=2\n"
        "[Vendor]\nCPU vendor=amd\nC=3\n"
        "[Both]\nCPU vendor=AMD\nCPU model=Milan\nD=4\n"
        "[Other model]\nCPU vendor=AMD\nCPU model=Rome\nE=5\n"
        "[Other vendor]\nCPU vendor=Intel\nF=6\n"
        "[Unknown filter]\nDMI product name=Box\nG=7\n"
        "[Back]\nH=8\n";
    CHECK(settings(text) == list{"A=1@1", "B=2@3", "C=3@6", "D=4@10", "H=8@22"});
}

TEST_CASE("lines that are not settings are counted, with the number of the first") {
    const auto content = parse_ini("TLS tcp\nA=1\n=5\n[open\nBAD-NAME=1\n", milan);
    CHECK(content.settings.size() == 1);
    CHECK(content.bad_lines == 4);
    CHECK(content.first_bad_line == 1);
}

TEST_CASE("random texts do not crash the parser") {
    const auto seed = GENERATE(range(1U, 20U));
    std::mt19937 random(seed);
    constexpr std::string_view alphabet = "[]=\n#; \tAZaz_09\0\xff\r";
    std::string text;
    for (int i = 0; i < 2000; ++i)
        text += alphabet[random() % alphabet.size()];
    INFO("seed " << seed);
    for (const auto& each : parse_ini(text, milan).settings) {
        REQUIRE_FALSE(each.name.empty());
        REQUIRE(each.name.find('=') == std::string::npos);
    }
}
