#include "ucs/datastruct/id_table.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <unordered_map>

using namespace ucs::datastruct;

TEST_CASE("elements are found by their id until they are removed") {
    id_table<std::string> table;
    const auto a = table.add("a");
    const auto b = table.add("bbb");
    CHECK(a != 0);
    CHECK(*table.find(a) == "a");
    CHECK(*table.find(b) == "bbb");
    CHECK(table.remove(a));
    CHECK_FALSE(table.remove(a));
    CHECK(table.find(a) == nullptr);
    CHECK(table.size() == 1);
}

TEST_CASE("an old id does not find the element that took its slot") {
    id_table<int> table;
    const auto old = table.add(1);
    table.remove(old);
    const auto fresh = table.add(2);
    CHECK((old & 0xffffff) == (fresh & 0xffffff));
    CHECK(table.find(old) == nullptr);
    CHECK(*table.find(fresh) == 2);
}

TEST_CASE("any untrusted number is safe to look up") {
    id_table<int> table;
    CHECK(table.find(0) == nullptr);
    const auto id = table.add(7);
    const std::uint64_t generation = id & ~std::uint64_t{0xffffffff};
    for (const std::uint64_t forged :
         {std::uint64_t{0}, ~std::uint64_t{0}, id + 1, id ^ (std::uint64_t{1} << 32),
          generation | 64, generation | 0xffffffff, id + (std::uint64_t{1} << 32)}) {
        INFO(forged);
        CHECK(table.find(forged) == nullptr);
        CHECK_FALSE(table.remove(forged));
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 100000; ++i) {
        const std::uint64_t forged = random();
        if (forged != id) REQUIRE(table.find(forged) == nullptr);
    }
}

TEST_CASE("secret ids reveal neither later ids nor those of another table") {
    secret_id_table<int> table;
    secret_id_table<int> other;
    std::set<std::uint64_t> seen;
    std::uint64_t before = 0;
    std::set<std::uint64_t> distances;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t id = table.add(i);
        CHECK(other.find(id) == nullptr);
        CHECK(*table.find(id) == i);
        table.remove(id);  // its slot is used again
        CHECK(table.find(id) == nullptr);
        CHECK(seen.insert(id).second);
        distances.insert(id - std::exchange(before, id));
    }
    CHECK(distances.size() == 1000);
}

TEST_CASE("elements do not move when the table grows") {
    id_table<int> table;
    const auto first = table.add(5);
    int* address = table.find(first);
    for (int i = 0; i < 10000; ++i)
        table.add(i);
    CHECK(table.find(first) == address);
}

TEST_CASE("an element may remove itself and others while all are visited") {
    id_table<int> table;
    for (int i = 0; i < 200; ++i)
        table.add(i);
    table.for_each([&](id_table<int>::id id, int& value) {
        if (value % 2 == 0) table.remove(id);
    });
    CHECK(table.size() == 100);
    table.clear();
    CHECK(table.empty());
}

TEST_CASE("elements are destroyed exactly once") {
    const auto token = std::make_shared<int>(0);
    {
        id_table<std::shared_ptr<int>> table;
        const auto id = table.add(token);
        table.add(token);
        CHECK(token.use_count() == 3);
        table.remove(id);
        CHECK(token.use_count() == 2);
        const id_table<std::shared_ptr<int>> moved(std::move(table));
        CHECK(moved.size() == 1);
        CHECK(table.empty());  // NOLINT: a moved-from table is empty by contract
    }
    CHECK(token.use_count() == 1);
}

TEST_CASE("random operations agree with a map") {
    const auto seed = GENERATE(range(1U, 6U));
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    id_table<std::uint64_t> table;
    std::unordered_map<std::uint64_t, std::uint64_t> model;
    std::vector<std::uint64_t> every_id;
    for (int i = 0; i < 20000; ++i) {
        if (random() % 2 == 0) {
            const std::uint64_t value = random();
            const auto id = table.add(value);
            REQUIRE(model.emplace(id, value).second);
            every_id.push_back(id);
        } else if (!every_id.empty()) {
            const auto id = every_id[random() % every_id.size()];
            REQUIRE(table.remove(id) == (model.erase(id) == 1));
        }
    }
    REQUIRE(table.size() == model.size());
    for (const auto id : every_id) {
        const auto expected = model.find(id);
        const auto* found = table.find(id);
        REQUIRE((found != nullptr) == (expected != model.end()));
        if (found != nullptr) REQUIRE(*found == expected->second);
    }
}
