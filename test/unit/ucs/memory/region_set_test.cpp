#include "ucs/memory/region_set.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

using namespace ucs::memory;

namespace {

region region_of(std::uintptr_t begin, std::uintptr_t end, unsigned access = 1) {
    region one;
    one.range = {begin, end};
    one.access = access;
    return one;
}

}  // namespace

TEST_CASE("a region is found by any range inside it, with no more than its access") {
    region_set set;
    region one = region_of(100, 200, 3);
    set.insert(one);
    CHECK(set.find({100, 200}, 3) == &one);
    CHECK(set.find({150, 151}, 1) == &one);
    CHECK(set.find({99, 150}, 1) == nullptr);
    CHECK(set.find({150, 201}, 1) == nullptr);
    CHECK(set.find({150, 160}, 4) == nullptr);
    set.remove(one);
    CHECK(set.find({150, 160}, 1) == nullptr);
    CHECK(set.count() == 0);
    CHECK(set.bytes() == 0);
}

TEST_CASE("adjacent regions do not serve a range across both") {
    region_set set;
    region left = region_of(100, 200);
    region right = region_of(200, 300);
    set.insert(left);
    set.insert(right);
    CHECK(set.find({150, 250}, 1) == nullptr);
    CHECK(set.first_overlapping({150, 250}) == &left);
    CHECK(set.first_overlapping({200, 201}) == &right);
    CHECK(set.first_overlapping({300, 400}) == nullptr);
    CHECK(set.first_overlapping({0, 100}) == nullptr);
    CHECK(set.first_overlapping({0, 101}) == &left);
}

TEST_CASE("the oldest unused region is the one whose last use is longest ago") {
    region_set set;
    region a = region_of(0, 1);
    region b = region_of(1, 2);
    set.insert(a);
    set.insert(b);
    CHECK(set.oldest_unused() == &a);
    set.add_user(a);
    set.add_user(a);
    CHECK(set.oldest_unused() == &b);
    set.remove_user(a);
    CHECK(set.oldest_unused() == &b);
    set.remove_user(a);
    CHECK(set.oldest_unused() == &b);
    set.remove(b);
    CHECK(set.oldest_unused() == &a);
}

TEST_CASE("random regions are found as by a linear search") {
    constexpr std::uintptr_t space = 200;
    for (unsigned seed = 1; seed <= 30; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto below = [&](std::uintptr_t limit) {
            return std::uniform_int_distribution<std::uintptr_t>(0, limit - 1)(random);
        };
        region_set set;
        std::vector<std::unique_ptr<region>> all;
        bool good = true;
        for (int step = 0; step < 1000; ++step) {
            const std::uintptr_t begin = below(space);
            const address_range range{begin, begin + 1 + below(20)};
            const auto access = static_cast<unsigned>(below(4));
            const auto first = std::min_element(all.begin(), all.end(), [&](auto& x, auto& y) {
                const bool x_in = x->range.overlaps(range);
                const bool y_in = y->range.overlaps(range);
                return x_in != y_in ? x_in : x->range.begin < y->range.begin;
            });
            const bool any = first != all.end() && (*first)->range.overlaps(range);
            region* expected = any ? first->get() : nullptr;
            good = good && set.first_overlapping(range) == expected;
            const bool serves =
                any && expected->range.contains(range) && (access & ~expected->access) == 0;
            good = good && set.find(range, access) == (serves ? expected : nullptr);
            if (!any) {
                all.push_back(std::make_unique<region>(region_of(range.begin, range.end, access)));
                set.insert(*all.back());
            } else if (below(3) == 0) {
                set.remove(*expected);
                all.erase(first);
            }
            std::size_t bytes = 0;
            for (const auto& one : all)
                bytes += one->range.size();
            good = good && set.count() == all.size() && set.bytes() == bytes;
        }
        CHECK(good);
    }
}
