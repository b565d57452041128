#include "ucp/tag/match/unexpected.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <vector>

using namespace ucp::tag;

namespace {

constexpr std::uint64_t full = ~std::uint64_t{0};

// Reference model: a list in order of arrival.
class naive_queue {
public:
    void add(unexpected_entry& entry) { entries_.push_back(&entry); }
    unexpected_entry* find(std::uint64_t tag, std::uint64_t mask) {
        const auto found = std::find_if(entries_.begin(), entries_.end(), [=](const auto* each) {
            return (each->tag & mask) == (tag & mask);
        });
        return found == entries_.end() ? nullptr : *found;
    }
    void remove(unexpected_entry& entry) { entries_.remove(&entry); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] const std::list<unexpected_entry*>& entries() const { return entries_; }

private:
    std::list<unexpected_entry*> entries_;
};

struct scenario {
    std::uint64_t seed;
    std::size_t masks;
    std::uint64_t strongest;  // the most specific mask that the program uses
    std::size_t tags;
    std::size_t fill;
    std::size_t steps = 4000;
};

class model_run {
public:
    explicit model_run(const scenario& parameters)
        : parameters_(parameters), random_(parameters.seed), masks_{parameters.strongest} {
        while (masks_.size() < parameters.masks)
            masks_.push_back(masks_.size() == 1 ? 0 : random_() & parameters.strongest);
        for (std::size_t i = 0; i < 2 * parameters.fill + 64; ++i)
            free_.push_back(&store_.emplace_back());
    }

    // Returns the largest number of indexes that existed.
    std::size_t run() {
        std::size_t most = 0;
        for (std::size_t i = 0; i < parameters_.steps; ++i) {
            INFO("seed " << parameters_.seed << ", masks " << parameters_.masks << ", step " << i);
            const bool grow = i / (2 * parameters_.fill + 1) % 2 == 0;
            const std::size_t dice = random_() % 100;
            if (dice < (grow ? 60U : 20U)) {
                arrive();
            } else {
                receive(dice >= 90);
            }
            REQUIRE(real_.size() == naive_.size());
            REQUIRE(real_.index_count() <= mask_indexes::limit);
            most = std::max(most, real_.index_count());
        }
        std::vector<unexpected_entry*> seen;
        real_.for_each([&seen](unexpected_entry& each) { seen.push_back(&each); });
        REQUIRE(
            std::equal(seen.begin(), seen.end(), naive_.entries().begin(), naive_.entries().end()));
        return most;
    }

private:
    std::uint64_t tag() {
        const std::uint64_t value = random_() % parameters_.tags;
        return value << 40 | value << 20 | value;
    }
    void arrive() {
        if (free_.empty()) return;
        unexpected_entry& entry = *free_.back();
        free_.pop_back();
        entry.tag = tag() | (random_() % 4) << 60;
        real_.add(entry);
        naive_.add(entry);
    }
    void receive(bool probe_only) {
        const std::uint64_t wanted = tag() | (random_() % 4) << 60;
        const std::uint64_t mask = masks_[random_() % masks_.size()];
        unexpected_entry* found = real_.find(wanted, mask);
        REQUIRE(found == naive_.find(wanted, mask));
        if (found == nullptr || probe_only) return;
        real_.remove(*found);
        naive_.remove(*found);
        REQUIRE(found->nodes == nullptr);
        free_.push_back(found);
    }

    scenario parameters_;
    std::mt19937_64 random_;
    std::vector<std::uint64_t> masks_;
    std::list<unexpected_entry> store_;
    std::vector<unexpected_entry*> free_;
    unexpected_queue real_;
    naive_queue naive_;
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
