// The book in which an operation finds out who has not begun it.
#include "ucg/net/blame.hpp"

#include <catch2/catch.hpp>
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
    const ranks awaited{1, 3};
    CHECK(!of.has_asked());
    CHECK(of.ranks(awaited) == awaited);
    of.begin_round(awaited);
    CHECK(of.has_asked());
    CHECK(asked_by(of) == awaited);
    of.hear(1, {{5}, {}});
    CHECK(of.ranks(awaited) == ranks{3, 5});
    of.hear(3, {{1, 5}, {}});  // it did not know that rank 1 has begun
    CHECK(of.ranks(awaited) == ranks{5});
    CHECK(asked_by(of).empty());  // whom others blame is asked by those that wait for it
}

TEST_CASE("what a rank says counts until it says something else, and while it is waited for") {
    blame of;
    of.begin_round(ranks{1});
    of.hear(1, {{5}, {}});
    of.begin_round(ranks{1});
    CHECK(of.ranks(ranks{1}) == ranks{5});
    CHECK(asked_by(of) == ranks{1});  // it may wait for others by now
    of.hear(1, {{6}, {}});
    CHECK(of.ranks(ranks{1}) == ranks{6});
    CHECK(of.ranks(ranks{1, 7}) == ranks{6, 7});
    CHECK(of.ranks(ranks{}).empty());
}

TEST_CASE("an answer says something new when it names other ranks or tells who has begun") {
    blame of;
    of.begin_round(ranks{1});
    CHECK(of.hear(1, {{}, {}}));
    CHECK(!of.hear(1, {{}, {}}));
    CHECK(of.hear(1, {{5}, {}}));
    CHECK(!of.hear(1, {{5}, {}}));
    CHECK(of.hear(1, {{5}, {4}}));
    CHECK(!of.hear(1, {{5}, {4}}));
    CHECK(!of.hear(2, {{6}, {2}}));
}

TEST_CASE("who has begun is never blamed again, and leads on all the same") {
    blame of;
    of.begin_round(ranks{1, 2});
    of.hear(1, {{2}, {}});
    of.hear(2, {{1}, {}});
    CHECK(of.ranks(ranks{1, 2}).empty());
    of.begin_round(ranks{1});
    CHECK(of.ranks(ranks{1}).empty());
    of.hear(1, {{2, 5}, {}});
    CHECK(of.ranks(ranks{1}) == ranks{5});
}

TEST_CASE("who cannot be asked yet is asked later, and what a stranger says counts for nothing") {
    blame of;
    of.begin_round(ranks{1, 2});
    of.ask([](auto rank) { return rank != 1; });
    CHECK(asked_by(of) == ranks{1});
    of.hear(4, {{7}, {}});
    CHECK(of.ranks(ranks{1, 2}) == ranks{1, 2});
    CHECK(of.ranks(ranks{4}) == ranks{4});
}

TEST_CASE("who has not answered is asked again, also when it is not awaited any more") {
    blame of;
    of.begin_round(ranks{1, 2});
    CHECK(asked_by(of) == ranks{1, 2});
    of.hear(1, {{}, {}});
    of.begin_round(ranks{3});
    CHECK(asked_by(of) == ranks{3, 2});
}

TEST_CASE("those that ask are told again when something changes, also who has come") {
    blame of;
    of.begin_round(ranks{5, 6});
    CHECK(of.answer(3, {5, 6}).begun.empty());
    CHECK(of.answer(4, {5, 6}).blamed == ranks{5, 6});
    of.hear(5, {{7}, {}});
    const ranks now{6, 7};
    CHECK(of.answer(3, now).begun == ranks{5});
    ranks told;
    const auto tell = [&](bool can) {
        of.tell(now, [&](auto who, const blame::word& said) {
            told.push_back(who);
            CHECK(said.blamed == now);
            CHECK(said.begun == ranks{5});
            return can;
        });
    };
    tell(false);
    tell(true);
    tell(true);
    CHECK(told == ranks{4, 4});
}

TEST_CASE("that a rank has begun is told to all that heard its name, however long ago") {
    blame of;
    of.begin_round(ranks{5});
    static_cast<void>(of.answer(3, {5}));
    std::vector<blame::word> told;
    const auto tell = [&](const ranks& blamed) {
        of.tell(blamed, [&](auto, const blame::word& said) {
            told.push_back(said);
            return true;
        });
    };
    tell({6});
    of.hear(5, {{}, {}});
    tell({6});
    tell({6});
    REQUIRE(told.size() == 2);
    CHECK(told[0].begun.empty());
    CHECK(told[1].blamed == ranks{6});
    CHECK(told[1].begun == ranks{5});
}

TEST_CASE("who has begun is told of in as many words as it takes") {
    blame of;
    const ranks some{1, 2, 3, 4, 5}, others{6, 7, 8};
    static_cast<void>(of.answer(9, some));
    static_cast<void>(of.answer(9, others));
    ranks all = some;
    all.insert(all.end(), others.begin(), others.end());
    of.begin_round(all);
    for (const auto each : all)
        of.hear(each, {{}, {}});
    CHECK(of.answer(9, {}).begun == some);
    CHECK(of.answer(9, {}).begun == others);
    CHECK(of.answer(9, {}).begun.empty());
}

// Each had the name from the other one, long after that rank had come.
TEST_CASE("ranks that wait for each other do not keep a name alive") {
    blame here;
    here.begin_round(ranks{1, 2});
    here.hear(1, {{5}, {}});  // it found that out itself
    here.hear(2, {{5}, {}});  // it had it from here
    here.hear(1, {{6}, {5}});
    CHECK(here.ranks(ranks{1, 2}) == ranks{6});
    here.hear(2, {{5}, {}});  // on its way before it was told
    CHECK(here.ranks(ranks{1, 2}) == ranks{6});
}
