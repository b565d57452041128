#include "ucs/sys/text_file.hpp"

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"

namespace sys = ucs::sys;
using cpus = std::vector<unsigned>;

TEST_CASE("lists of processors") {
    CHECK(sys::parse_cpu_list("0-3,8,10-11") == cpus{0, 1, 2, 3, 8, 10, 11});
    CHECK(sys::parse_cpu_list("5") == cpus{5});
    CHECK(sys::parse_cpu_list("") == cpus{});
    for (const char* text : {"-", "1-", "3-1", "1,", ",1", "a", "1;2", "0-99999999", "1--2"}) {
        INFO(text);
        CHECK_FALSE(sys::parse_cpu_list(text).has_value());
    }
}

TEST_CASE("one-line files") {
    const test::temp_dir folder;
    CHECK(sys::read_text(folder.write("text", "abc \n")) == "abc");
    CHECK(sys::read_text(folder.write("blank", "\n")) == "");
    CHECK_FALSE(sys::read_text(folder / "missing").has_value());
    CHECK_FALSE(sys::read_text(folder.path()).has_value());
    CHECK(sys::read_number(folder.write("number", "-12\n")) == -12);
    CHECK_FALSE(sys::read_number(folder.write("words", "12 monkeys\n")).has_value());
    CHECK(sys::read_text(folder.write("large", std::string(1 << 20, 'x')))->size() == 64 * 1024);
}

TEST_CASE("folders and paths") {
    const test::temp_dir folder;
    folder.write("b", "");
    folder.write("a/c", "");
    folder.link("l", "a/c");
    CHECK(sys::list_folder(folder.path()) == std::vector<std::string>{"a", "b", "l"});
    CHECK(sys::list_folder(folder / "missing").empty());
    CHECK(sys::base_name(*sys::real_path(folder / "l")) == "c");
    CHECK_FALSE(sys::real_path(folder / "missing").has_value());
    CHECK(sys::base_name("name") == "name");
}
