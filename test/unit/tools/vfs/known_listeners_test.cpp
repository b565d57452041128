// Tests which listeners ucx_vfs connects to if other users have taken names as well.
#include "tools/vfs/known_listeners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

using tools::vfs::known_listeners;
using names = std::vector<std::string>;

namespace {

names numbered(std::size_t count) {
    names made;
    for (std::size_t i = 0; i < count; ++i)
        made.push_back(fmt::format("hawser-vfs-1000-{:016x}", i * 7919 % 1'000'003));
    return made;
}

}  // namespace

TEST_CASE("ucx_vfs: a listener is chosen until it is known, and again after it was gone") {
    known_listeners known;
    CHECK(known.choose({"b", "a", "x-daemon", "c"}, {"c"}) == names{"a", "b"});
    known.add_own("a", 7);
    known.add_own("d", 8);
    known.add_foreign("b");
    CHECK(known.choose({"a", "b", "d"}, {}).empty());
    known.forget(7);
    CHECK(known.choose({"a", "b", "d"}, {}) == names{"a"});
    CHECK(known.choose({}, {}).empty());
    CHECK(known.choose({"b", "d"}, {}) == names{"b", "d"});
}

TEST_CASE("ucx_vfs: of many listeners a part is chosen each time, and each has its turn") {
    known_listeners known;
    const std::size_t many = 8 * known_listeners::most_calls;
    names all = numbered(many);
    all.push_back("own");
    bool is_found = false;
    for (int look = 0; look < 1000 && !is_found; ++look) {
        const names chosen = known.choose(all, {});
        REQUIRE(chosen.size() == known_listeners::most_calls);
        is_found = std::ranges::count(chosen, "own") != 0;
    }
    CHECK(is_found);
}

TEST_CASE("ucx_vfs: the number of stored foreign listeners is limited") {
    known_listeners known;
    const names all = numbered(100'000);
    for (const std::string& each : all)
        known.add_foreign(each);
    const names chosen = known.choose(all, {});
    CHECK(chosen.size() == known_listeners::most_calls);
    const names kept(all.begin(), all.begin() + known_listeners::most_foreign);
    CHECK(known.choose(kept, {}).empty());
    CHECK(known.choose(all, {}).size() == known_listeners::most_calls);
}
