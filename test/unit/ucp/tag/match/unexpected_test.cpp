#include "ucp/tag/match/unexpected.hpp"

#include "test/unit/ucp/tag/match/queue_model.hpp"

using namespace ucp::tag;

namespace {

constexpr std::uint64_t full = ~std::uint64_t{0};

class model_run : test::model_run<unexpected_queue, unexpected_entry> {
public:
    explicit model_run(const test::scenario& parameters)
        : test::model_run<unexpected_queue, unexpected_entry>(parameters) {}

    // Returns the largest number of indexes that existed.
    std::size_t run() {
        std::size_t most = 0;
        repeat([&](std::size_t dice, bool grow) {
            if (dice < (grow ? 60U : 20U)) {
                add([this](unexpected_entry& entry) { entry.tag = any_tag(); });
            } else {
                receive(dice >= 90);
            }
            REQUIRE(real_.index_count() <= mask_indexes::limit);
            most = std::max(most, real_.index_count());
        });
        std::vector<unexpected_entry*> seen;
        real_.for_each([&seen](unexpected_entry& each) { seen.push_back(&each); });
        REQUIRE(
            std::equal(seen.begin(), seen.end(), naive_.entries().begin(), naive_.entries().end()));
        return most;
    }

private:
    void receive(bool probe_only) {
        const std::uint64_t wanted = any_tag();
        const std::uint64_t mask = any_mask();
        unexpected_entry* const found = real_.find(wanted, mask);
        REQUIRE(found == naive_.find([=](const unexpected_entry& each) {
            return (each.tag & mask) == (wanted & mask);
        }));
        if (found == nullptr || probe_only) return;
        real_.remove(*found);
        naive_.remove(*found);
        REQUIRE(found->nodes == nullptr);
        free_.push_back(found);
    }
};

// A queue of `count` messages with tags 0 to count-1.
struct filled_queue {
    explicit filled_queue(std::size_t count) : entries(count) {
        std::uint64_t next = 0;
        for (unexpected_entry& each : entries) {
            each.tag = next++;
            queue.add(each);
        }
    }
    std::vector<unexpected_entry> entries;
    unexpected_queue queue;
};

}  // namespace

TEST_CASE("stored messages are found like in a list by arrival", "[ucp][tag]") {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        for (const std::size_t masks : {1U, 2U, 4U, 9U, 40U}) {
            for (const std::uint64_t strongest : {full, full >> 2}) {
                model_run({seed, masks, strongest, 3, 5}).run();
                model_run({seed, masks, strongest, 50, 60}).run();
                model_run({seed, masks, strongest, 2000, 400}).run();
            }
        }
    }
}

TEST_CASE("long lists with wildcards get indexes and stay right", "[ucp][tag]") {
    std::size_t most = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        most = std::max(most, model_run({seed, 4, full, 100000, 1500, 8000}).run());
        most = std::max(most, model_run({seed, 20, full, 100000, 1500, 8000}).run());
    }
    REQUIRE(most > 1);
}

TEST_CASE("a mask that walks a long list repeatedly gets an index", "[ucp][tag]") {
    filled_queue filled(5000);
    const std::uint64_t low = 0xffff;
    REQUIRE(filled.queue.find(0xffffffff, full) == nullptr);
    REQUIRE(filled.queue.index_count() == 0);
    for (int i = 0; i < 3; ++i)
        REQUIRE(filled.queue.find(4999, low) == &filled.entries[4999]);
    REQUIRE(filled.queue.index_count() == 1);
    // The index follows later arrivals and removals.
    unexpected_entry late{.tag = 0x10000 + 4999};
    filled.queue.add(late);
    filled.queue.remove(filled.entries[4999]);
    REQUIRE(filled.queue.find(4999, low) == &late);
    filled.queue.remove(late);
    REQUIRE(filled.queue.find(4999, low) == nullptr);
}

TEST_CASE("lookups that end early build no index", "[ucp][tag]") {
    filled_queue filled(5000);
    for (std::size_t i = 0; i < 100000; ++i)
        REQUIRE(filled.queue.find(i % 8, 0x7) == &filled.entries[i % 8]);
    REQUIRE(filled.queue.index_count() == 0);
}

TEST_CASE("an index that no receive uses is dropped", "[ucp][tag]") {
    filled_queue filled(200);
    for (int i = 0; i < 3; ++i)
        static_cast<void>(filled.queue.find(199, 0xfff));
    REQUIRE(filled.queue.index_count() == 1);
    std::list<unexpected_entry> more(4000);
    for (unexpected_entry& each : more) {
        filled.queue.add(each);
        filled.queue.remove(each);
    }
    REQUIRE(filled.queue.index_count() == 0);
    for (const unexpected_entry& each : filled.entries)
        REQUIRE(each.nodes == nullptr);
    REQUIRE(filled.queue.find(199, 0xfff) == &filled.entries[199]);
}

TEST_CASE("the number of indexes is limited for any masks", "[ucp][tag]") {
    filled_queue filled(1000);
    for (int round = 0; round < 3; ++round) {
        for (std::uint64_t bit = 10; bit < 60; ++bit) {
            for (int i = 0; i < 4; ++i)
                REQUIRE(filled.queue.find(999, 0x3ff | full << bit) == &filled.entries[999]);
        }
    }
    REQUIRE(filled.queue.index_count() == mask_indexes::limit);
}

// Some programs never use all 64 bits. Their most specific mask must be as cheap as the full mask
// for other programs; the test checks that it needs no index.
TEST_CASE("the table follows the most specific mask in use", "[ucp][tag]") {
    constexpr std::uint64_t specific = full >> 2;
    filled_queue filled(2000);
    static_cast<void>(filled.queue.find(1, specific));
    for (unexpected_entry& each : filled.entries)
        filled.queue.remove(each);
    REQUIRE(filled.queue.empty());
    for (unexpected_entry& each : filled.entries)
        filled.queue.add(each);
    for (int round = 0; round < 4; ++round) {
        for (unexpected_entry& each : filled.entries)
            REQUIRE(filled.queue.find(each.tag | full << 62, specific) == &each);
    }
    REQUIRE(filled.queue.index_count() == 0);
    // A mask with all bits of the table's mask walks over entries of one key only.
    REQUIRE(filled.queue.find(1999, full) == &filled.entries[1999]);
    REQUIRE(filled.queue.find(1999 | full << 62, full) == nullptr);
    REQUIRE(filled.queue.index_count() == 0);
}

TEST_CASE("for_each lets its own entry be removed", "[ucp][tag]") {
    filled_queue filled(10);
    std::uint64_t next = 0;
    filled.queue.for_each([&](unexpected_entry& each) {
        REQUIRE(each.tag == next++);
        filled.queue.remove(each);
    });
    REQUIRE(next == 10);
    REQUIRE(filled.queue.empty());
}
