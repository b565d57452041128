#include "ucp/tag/match/fifo_table.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

namespace {

struct item {
    std::uint64_t tag = 0;
    ucp::tag::fifo_links<item> links{};
};
using table = ucp::tag::fifo_table<item>;

std::vector<item> items_with(std::size_t count,
                             const std::function<std::uint64_t(std::uint64_t)>& tag_of) {
    std::vector<item> items(count);
    for (std::size_t i = 0; i < count; ++i)
        items[i].tag = tag_of(i);
    return items;
}

}  // namespace

TEST_CASE("equal keys leave a table in the order of their arrival", "[ucp][tag]") {
    table t(0xff);
    std::vector<item> items = items_with(1000, [](std::uint64_t i) { return i << 8 | 7; });
    for (item& each : items)
        t.add(each);
    REQUIRE(t.keys() == 1);
    REQUIRE(t.longest_chain() == 1);
    for (item& each : items) {
        item** link = t.find(7);
        REQUIRE(*link == &each);
        t.take(link);
    }
    REQUIRE(t.empty());
    REQUIRE(*t.find(7) == nullptr);
}

TEST_CASE("removal from anywhere keeps the order of the rest", "[ucp][tag]") {
    table t;
    std::vector<item> items = items_with(5, [](std::uint64_t) { return 3; });
    for (item& each : items)
        t.add(each);
    for (const std::size_t gone : {2U, 0U, 4U})
        t.remove(items[gone]);
    for (const std::size_t left : {1U, 3U}) {
        item** link = t.find(3);
        REQUIRE(*link == &items[left]);
        t.take(link);
    }
    REQUIRE(t.empty());
}

TEST_CASE("patterns of tags that programs use spread over the buckets", "[ucp][tag]") {
    using pattern = std::pair<const char*, std::function<std::uint64_t(std::uint64_t)>>;
    const std::vector<pattern> patterns = {
        {"sequence", [](std::uint64_t i) { return i; }},
        {"multiples of 4096", [](std::uint64_t i) { return i * 4096; }},
        {"high 24 bits", [](std::uint64_t i) { return i << 40; }},
        {"source rank in the middle", [](std::uint64_t i) { return i << 20 | 5; }},
        {"source rank and tag", [](std::uint64_t i) { return (i % 128) << 20 | (i / 128) << 40; }},
        {"high bits only", [](std::uint64_t i) { return i << 44 | 0xffff; }},
    };
    for (const pattern& each : patterns) {
        INFO(each.first);
        table t;
        std::vector<item> items = items_with(50000, each.second);
        for (item& one : items)
            t.add(one);
        REQUIRE(t.keys() == items.size());
        REQUIRE(t.buckets() >= items.size());
        REQUIRE(t.longest_chain() <= 12);
    }
}

TEST_CASE("tags that a peer has chosen for another table spread over the buckets", "[ucp][tag]") {
    // In an earlier version, the hash of all tables had a public key: messages with such tags made
    // one call of progress take seconds.
    ucs::sys::hash_key known{0, 0x9e3779b97f4a7c15U};
    if (GENERATE(false, true)) known = ucs::sys::random_hash_key();
    const auto known_hash = [&](std::uint64_t tag) {
        __extension__ using wide = unsigned __int128;
        const wide product = static_cast<wide>(tag) * known[1];
        const auto folded = static_cast<std::uint64_t>(product ^ (product >> 64));
        return known[0] == 0 ? folded : ucs::sys::quick_hash(known, tag);
    };
    std::uint64_t last = 0;
    std::vector<item> items = items_with(500, [&](std::uint64_t) {
        do {
            ++last;
        } while ((known_hash(last) & 0xfff) != 0);
        return last;
    });
    table t;
    for (item& one : items)
        t.add(one);
    CHECK(t.longest_chain() <= 12);
}

TEST_CASE("for_each reaches every node once and lets it be reused", "[ucp][tag]") {
    table t(0xf);
    std::vector<item> items = items_with(300, [](std::uint64_t i) { return i * i; });
    for (item& each : items)
        t.add(each);
    std::size_t seen = 0;
    t.for_each([&seen](item& each) {
        each.links = {};
        each.tag = ~std::uint64_t{0};
        ++seen;
    });
    REQUIRE(seen == items.size());
}
