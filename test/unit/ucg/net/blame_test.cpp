// The book in which an operation finds out who has not begun it.
#include "ucg/net/blame.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

using ucg::net::blame;
using ranks = std::vector<ucg::schedule::rank_t>;

namespace {

ranks asked_by(blame& of) {
    ranks asked;
    of.ask([&](auto rank) {
        asked.push_back(rank);
        return true;
    });
    return asked;
}

}  // namespace

TEST_CASE("blame leads from those that wait to the one that does not answer") {
    blame of;
    CHECK(of.ranks().empty());
    of.begin_round(ranks{3, 1});
    CHECK(of.ranks() == ranks{1, 3});
    CHECK(asked_by(of) == ranks{3, 1});
    of.hear(1, ranks{5});
    CHECK(of.ranks() == ranks{3, 5});
    CHECK(asked_by(of) == ranks{5});
    of.hear(3, ranks{1, 5});
    CHECK(of.ranks() == ranks{5});
    CHECK(asked_by(of).empty());  // each once
}

TEST_CASE("a round that begins keeps what the last one found until it has found more") {
    blame of;
    of.begin_round(ranks{1});
    of.hear(1, ranks{5});
    of.begin_round(ranks{1});
    CHECK(of.ranks() == ranks{5});
    CHECK(asked_by(of) == ranks{1});  // it may wait for others by now
    of.hear(1, ranks{6});
    CHECK(of.ranks() == ranks{6});
    of.begin_round(ranks{1});
    of.begin_round(ranks{1});
    CHECK(of.ranks().empty());  // nobody has spoken of rank 6 for long
}

TEST_CASE("who has begun is never blamed again, and leads on all the same") {
    blame of;
    of.begin_round(ranks{1});
    of.hear(1, ranks{2});
    of.hear(2, ranks{1});
    CHECK(of.ranks().empty());
    of.begin_round(ranks{1});
    CHECK(of.ranks().empty());
    CHECK(asked_by(of) == ranks{1});
    of.hear(1, ranks{2});
    CHECK(asked_by(of) == ranks{2});
    of.hear(2, ranks{5});
    CHECK(of.ranks() == ranks{5});
}

TEST_CASE("who cannot be asked yet is asked later, and what a stranger says counts for nothing") {
    blame of;
    of.begin_round(ranks{1, 2});
    of.ask([](auto rank) { return rank != 1; });
    CHECK(asked_by(of) == ranks{1});
    of.hear(4, ranks{7});
    CHECK(of.ranks() == ranks{1, 2});
}
