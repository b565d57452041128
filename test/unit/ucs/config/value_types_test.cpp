#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "ucs/config/edit_distance.hpp"
#include "ucs/config/enum_type.hpp"
#include "ucs/config/option.hpp"
#include "ucs/config/text.hpp"
#include "ucs/config/units.hpp"
#include "ucs/log/log.hpp"

namespace config = ucs::config;

namespace {

enum class color { red, green };
constexpr config::enum_name<color> color_names[] = {
    {"red", color::red}, {"green", color::green}, {"verde", color::green}};

// Parses a text and prints the value; "!" if it is refused.
template<class T>
std::string round_trip(const char* text) {
    T value{};
    const config::value_type& type = config::value_type_of<T>();
    if (type.parse(text, &value) != UCS_OK) return "!";
    return type.print(&value);
}

}  // namespace

template<>
const config::value_type& config::value_type_of<color>() {
    return config::enum_type<color_names>();
}

TEST_CASE("booleans") {
    for (const char* text : {"y", "YES", "on", "1", "true", " y "}) {
        CHECK(round_trip<bool>(text) == "y");
    }
    for (const char* text : {"n", "No", "off", "0", "FALSE"})
        CHECK(round_trip<bool>(text) == "n");
    for (const char* text : {"", "2", "maybe", "yy"})
        CHECK(round_trip<bool>(text) == "!");
}

TEST_CASE("numbers are parsed completely or refused") {
    CHECK(round_trip<int>("-5") == "-5");
    CHECK(round_trip<int>("99999999999") == "!");
    CHECK(round_trip<int>("5x") == "!");
    CHECK(round_trip<int>("") == "!");
    CHECK(round_trip<unsigned>("7") == "7");
    CHECK(round_trip<unsigned>("-1") == "!");
    CHECK(round_trip<unsigned>("inf") == "inf");
    CHECK(round_trip<std::size_t>("18446744073709551614") == "18446744073709551614");
    CHECK(round_trip<std::size_t>("18446744073709551616") == "!");
    CHECK(round_trip<double>("0.25") == "0.25");
    CHECK(round_trip<double>("1e3") == "1000");
    CHECK(round_trip<double>("1,5") == "!");
}

TEST_CASE("memory sizes") {
    CHECK(round_trip<config::memunits>("8k") == "8K");
    CHECK(round_trip<config::memunits>("64KB") == "64K");
    CHECK(round_trip<config::memunits>("1.5m") == "1536K");
    CHECK(round_trip<config::memunits>("1000") == "1000");
    CHECK(round_trip<config::memunits>("0") == "0");
    CHECK(round_trip<config::memunits>("2 gb") == "2G");
    CHECK(round_trip<config::memunits>("inf") == "inf");
    CHECK(round_trip<config::memunits>("AUTO") == "auto");
    for (const char* text : {"", "k", "8q", "-1", "8kk", "nan", "1e30g", "8k 9", "99999999p",
                             "0x10", "18446744073709551615"}) {
        INFO(text);
        CHECK(round_trip<config::memunits>(text) == "!");
    }
}

TEST_CASE("printed memory sizes read back as the same number") {
    const auto seed = GENERATE(1U, 2U, 3U);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 1000; ++i) {
        const std::size_t bytes = (random() >> (random() % 64)) & ~std::size_t{0} >> 1;
        INFO("seed " << seed << " bytes " << bytes);
        REQUIRE(config::parse_bytes(config::print_bytes(bytes)) == bytes);
    }
}

TEST_CASE("durations") {
    CHECK(config::parse_seconds("10ms") == Approx(0.01));
    CHECK(config::parse_seconds("5us") == Approx(5e-6));
    CHECK(config::parse_seconds("100ns") == Approx(1e-7));
    CHECK(config::parse_seconds("1.5") == Approx(1.5));
    CHECK(config::parse_seconds("2m") == Approx(120));
    CHECK(std::isinf(*config::parse_seconds("inf")));
    CHECK(std::isnan(*config::parse_seconds("auto")));
    CHECK(round_trip<config::duration>("0.01") == "10ms");
    CHECK(round_trip<config::duration>("90s") == "90s");
    for (const char* text : {"", "ms", "-1s", "1x", "1s2", "nan", "1e308h"}) {
        INFO(text);
        CHECK_FALSE(config::parse_seconds(text).has_value());
    }
}

TEST_CASE("rates") {
    CHECK(config::parse_rate("1000MBs") == Approx(1000.0 * 1024 * 1024));
    CHECK(config::parse_rate("10GB/s") == config::parse_rate("10GBps"));
    CHECK(config::parse_rate("8Gbps") == config::parse_rate("1GBps"));
    CHECK(config::parse_rate("12g") == config::parse_rate("12GBps"));
    CHECK(std::isnan(*config::parse_rate("auto")));
    CHECK(round_trip<config::rate>("12g") == "12GBps");
    CHECK(round_trip<config::rate>("12GBps") == "12GBps");
    CHECK(round_trip<config::rate>("1.5MBs") == "1536KBps");
    for (const char* text :
         {"", "s", "Bs", "-1MBs", "inf", "infBs", "10Gs", "10 miles/s", "autos"}) {
        INFO(text);
        CHECK(round_trip<config::rate>(text) == "!");
    }
}

TEST_CASE("counts that may be automatic") {
    CHECK(round_trip<config::auto_count>("Auto") == "auto");
    CHECK(round_trip<config::auto_count>(" 7 ") == "7");
    CHECK(round_trip<config::auto_count>("0") == "0");
    CHECK(config::auto_count{}.is_auto());
    for (const char* wrong : {"", "inf", "-1", "4294967295", "1.5"}) {
        INFO(wrong);
        CHECK(round_trip<config::auto_count>(wrong) == "!");
    }
}

TEST_CASE("ternary, lists and levels") {
    CHECK(round_trip<config::ternary>("try") == "try");
    CHECK(round_trip<config::ternary>("auto") == "auto");
    CHECK(round_trip<config::ternary>("on") == "y");
    CHECK(round_trip<config::ternary>("perhaps") == "!");
    CHECK(round_trip<config::allow_list>("tcp, self") == "tcp,self");
    CHECK(round_trip<config::allow_list>("^tcp,cma") == "^tcp,cma");
    CHECK(round_trip<config::allow_list>("all") == "all");
    for (const char* text : {"", "^", "a,,b", ","}) {
        CHECK(round_trip<config::allow_list>(text) == "!");
    }
    CHECK(round_trip<config::names>("").empty());
    CHECK(round_trip<config::names>("a , b") == "a,b");
    CHECK(round_trip<config::names>("a,") == "!");
    CHECK(round_trip<ucs::log::level>("Debug") == "debug");
    CHECK(round_trip<ucs::log::level>("loud") == "!");
}

TEST_CASE("allow lists decide") {
    const config::allow_list all;
    const config::allow_list some{false, {"tcp", "self"}};
    const config::allow_list others{true, {"tcp"}};
    CHECK(all.allows("tcp"));
    CHECK(some.allows("self"));
    CHECK_FALSE(some.allows("cma"));
    CHECK(others.allows("cma"));
    CHECK_FALSE(others.allows("tcp"));
}

TEST_CASE("enumerations read and print their names") {
    CHECK(round_trip<color>("GREEN") == "green");
    CHECK(round_trip<color>("verde") == "green");
    CHECK(round_trip<color>("blue") == "!");
    CHECK(std::string(config::value_type_of<color>().expected) == "one of: red green verde");
}

TEST_CASE("edit distance counts typing errors") {
    CHECK(config::edit_distance("TLS", "TLS") == 0);
    CHECK(config::edit_distance("", "TLS") == 3);
    CHECK(config::edit_distance("TSL", "TLS") == 1);
    CHECK(config::edit_distance("NET_DEVICE", "NET_DEVICES") == 1);
    CHECK(config::edit_distance("LOG_LEVLE", "LOG_LEVEL") == 1);
    CHECK(config::edit_distance("abc", "xyz") == 3);
}
