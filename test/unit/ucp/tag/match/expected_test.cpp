#include "ucp/tag/match/expected.hpp"

#include <set>

#include "test/unit/ucp/tag/match/queue_model.hpp"

using namespace ucp::tag;

namespace {

using test::scenario;

class model_run : test::model_run<expected_queue, expected_entry> {
public:
    explicit model_run(const scenario& parameters)
        : test::model_run<expected_queue, expected_entry>(parameters) {}

    void run() {
        repeat([this](std::size_t dice, bool grow) {
            if (dice < (grow ? 65U : 25U)) {
                add([this](expected_entry& entry) {
                    entry.tag = any_tag();
                    entry.mask = any_mask();
                });
            } else if (dice < 95) {
                match();
            } else {
                cancel();
            }
            REQUIRE(real_.empty() == (naive_.size() == 0));
        });
        check_for_each();
    }

private:
    void match() {
        const std::uint64_t wanted = any_tag();
        expected_entry* const found = real_.match(wanted);
        REQUIRE(found == naive_.find([wanted](const expected_entry& each) {
            return (each.tag & each.mask) == (wanted & each.mask);
        }));
        if (found == nullptr) return;
        naive_.remove(*found);
        free_.push_back(found);
    }
    void cancel() {
        if (naive_.size() == 0) return;
        const auto offset = static_cast<std::ptrdiff_t>(random_() % naive_.size());
        expected_entry& entry = **std::next(naive_.entries().begin(), offset);
        real_.remove(entry);
        naive_.remove(entry);
        free_.push_back(&entry);
    }
    void check_for_each() {
        std::set<const expected_entry*> seen;
        real_.for_each([&seen](const expected_entry& each) { seen.insert(&each); });
        REQUIRE(seen.size() == naive_.size());
        for (const expected_entry* each : naive_.entries())
            REQUIRE(seen.count(each) == 1);
    }
};

}  // namespace

TEST_CASE("posted receives match like a list in posting order", "[ucp][tag]") {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        for (const std::size_t masks : {1U, 2U, 4U, 8U, 9U, 40U, 300U}) {
            model_run({.seed = seed, .masks = masks, .tags = 3, .fill = 5}).run();
            model_run({.seed = seed, .masks = masks, .tags = 50, .fill = 60}).run();
            model_run({.seed = seed, .masks = masks, .tags = 2, .fill = 200}).run();
        }
    }
}

TEST_CASE("tables of posted receives grow and shrink in use", "[ucp][tag]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        model_run({.seed = seed, .masks = 1, .tags = 100000, .fill = 1500, .steps = 8000}).run();
        model_run({.seed = seed, .masks = 4, .tags = 100000, .fill = 1500, .steps = 8000}).run();
    }
}

TEST_CASE("a single receive follows the same rules as many", "[ucp][tag]") {
    expected_queue queue;
    expected_entry entry{.tag = 0x1200, .mask = 0xff00};
    REQUIRE(queue.match(0x1200) == nullptr);
    queue.add(entry);
    REQUIRE(queue.size() == 1);
    REQUIRE(queue.match(0x1300) == nullptr);
    REQUIRE(queue.size() == 1);
    REQUIRE(queue.match(0x12ff) == &entry);
    REQUIRE(queue.empty());
    queue.add(entry);
    queue.remove(entry);
    REQUIRE(queue.match(0x1200) == nullptr);
}

TEST_CASE("a wildcard posted first takes precedence over an exact receive posted later",
          "[ucp][tag]") {
    expected_queue queue;
    expected_entry any{.tag = 0, .mask = 0};
    expected_entry exact{.tag = 5, .mask = ~std::uint64_t{0}};
    queue.add(any);
    queue.add(exact);
    REQUIRE(queue.match(5) == &any);
    queue.add(any);
    REQUIRE(queue.match(5) == &exact);
    REQUIRE(queue.match(5) == &any);
    REQUIRE(queue.match(5) == nullptr);
}

TEST_CASE("100,000 receives are found, in any order of leaving", "[ucp][tag]") {
    expected_queue queue;
    std::vector<expected_entry> entries(100000);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        entries[i].tag = i % 2 == 0 ? i : 1;  // every second one has the same tag
        entries[i].mask = ~std::uint64_t{0};
        queue.add(entries[i]);
    }
    for (std::size_t i = entries.size(); i-- > 0;) {
        if (i % 4 == 3) queue.remove(entries[i]);
    }
    for (std::size_t i = 1; i < entries.size(); i += 4)
        REQUIRE(queue.match(1) == &entries[i]);
    REQUIRE(queue.match(1) == nullptr);
    for (std::size_t i = 0; i < entries.size(); i += 2)
        REQUIRE(queue.match(i) == &entries[i]);
    REQUIRE(queue.empty());
}

TEST_CASE("clearing passes every entry to the callback and leaves a usable queue", "[ucp][tag]") {
    for (const std::size_t count : {0U, 1U, 2U, 100U}) {
        expected_queue queue;
        std::list<expected_entry> entries(count);
        for (expected_entry& each : entries) {
            each.mask = count % 3;
            queue.add(each);
        }
        std::size_t cleared = 0;
        queue.clear([&cleared](expected_entry& each) {
            each = {};
            ++cleared;
        });
        REQUIRE(cleared == count);
        REQUIRE(queue.empty());
        REQUIRE(queue.match(0) == nullptr);
        expected_entry again;
        queue.add(again);
        REQUIRE(queue.match(9) == &again);
    }
}

TEST_CASE("thousands of receives are matched, also after some were removed") {
    // Enough receives for their posting order to be recorded.
    constexpr std::uint64_t count = 3000;
    expected_queue queue;
    std::vector<std::unique_ptr<expected_entry>> entries;
    for (std::uint64_t round = 0; round < 2; ++round) {
        entries.clear();
        for (std::uint64_t i = 0; i < count; ++i) {
            entries.push_back(std::make_unique<expected_entry>());
            entries.back()->tag = i;
            entries.back()->mask = i % 3 == 0 ? 0xffff : ~std::uint64_t{0};
            queue.add(*entries.back());
        }
        for (std::uint64_t i = 1; i < count; i += 2) {
            queue.remove(*entries[i]);
            entries[i].reset();
        }
        for (std::uint64_t i = 0; i < count; ++i)
            CHECK(queue.match(i) == entries[i].get());
        CHECK(queue.empty());
    }
}
