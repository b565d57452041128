// Comparison of a queue of tag matching with a list that follows the same rules.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <vector>

namespace test {

// Reference model: a list in the order in which the entries were added.
template<class Entry>
class naive_queue {
public:
    void add(Entry& entry) { entries_.push_back(&entry); }
    // Returns the first matching entry. May be null.
    template<class Matches>
    [[nodiscard]] Entry* find(const Matches& matches) const {
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const Entry* each) { return matches(*each); });
        return found == entries_.end() ? nullptr : *found;
    }
    void remove(Entry& entry) { entries_.remove(&entry); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] const std::list<Entry*>& entries() const { return entries_; }

private:
    std::list<Entry*> entries_;
};

struct scenario {
    std::uint64_t seed;
    std::size_t masks;
    std::uint64_t strongest = ~std::uint64_t{0};  // the most specific mask that the program uses
    std::size_t tags;                             // different tags
    std::size_t fill;  // number of entries around which the length varies
    std::size_t steps = 4000;
};

// Random changes of a queue and of its reference model.
template<class Queue, class Entry>
class model_run {
protected:
    explicit model_run(const scenario& parameters)
        : parameters_(parameters), random_(parameters.seed), masks_{parameters.strongest} {
        while (masks_.size() < parameters.masks)
            masks_.push_back(masks_.size() == 1 ? 0 : random_() & parameters.strongest);
        for (std::size_t i = 0; i < 2 * parameters.fill + 64; ++i)
            free_.push_back(&store_.emplace_back());
    }

    // Calls `step` with a random number below 100, and whether the queue should grow now.
    template<class Step>
    void repeat(const Step& step) {
        for (std::size_t i = 0; i < parameters_.steps; ++i) {
            INFO("seed " << parameters_.seed << ", masks " << parameters_.masks << ", step " << i);
            const bool grow = i / (2 * parameters_.fill + 1) % 2 == 0;
            step(random_() % 100, grow);
            REQUIRE(real_.size() == naive_.size());
        }
    }
    // Some bits of the tag are left out by most masks.
    std::uint64_t any_tag() {
        const std::uint64_t value = random_() % parameters_.tags;
        return value << 40 | value << 20 | value | (random_() % 4) << 60;
    }
    std::uint64_t any_mask() { return masks_[random_() % masks_.size()]; }
    // Adds an entry that `prepare` has set up, unless all entries are in use.
    template<class Prepare>
    void add(const Prepare& prepare) {
        if (free_.empty()) return;
        Entry& entry = *free_.back();
        free_.pop_back();
        prepare(entry);
        real_.add(entry);
        naive_.add(entry);
    }

    const scenario parameters_;
    std::mt19937_64 random_;
    std::vector<std::uint64_t> masks_;
    std::list<Entry> store_;
    std::vector<Entry*> free_;
    Queue real_;
    naive_queue<Entry> naive_;
};

}  // namespace test
