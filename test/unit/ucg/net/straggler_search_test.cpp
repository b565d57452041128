// Tests of the search for the ranks that have not started an operation.
#include "ucg/net/straggler_search.hpp"

#include <catch2/catch.hpp>

using ucg::net::straggler_search;
using ranks = std::vector<ucg::schedule::rank_t>;

namespace {

ranks queried_by(straggler_search& search) {
    ranks queried;
    search.query([&](auto rank) {
        queried.push_back(rank);
        return true;
    });
    return queried;
}

}  // namespace

TEST_CASE("straggler search: reports lead to the rank that does not answer") {
    straggler_search search;
    const ranks awaited{1, 3};
    CHECK(!search.has_queried());
    CHECK(search.stragglers(awaited) == awaited);
    search.begin_round(awaited);
    CHECK(search.has_queried());
    CHECK(queried_by(search) == awaited);
    search.receive(1, {{5}, {}});
    CHECK(search.stragglers(awaited) == ranks{3, 5});
    search.receive(3, {{1, 5}, {}});  // rank 3 did not know that rank 1 has started
    CHECK(search.stragglers(awaited) == ranks{5});
    CHECK(queried_by(search).empty());  // only ranks that wait for a straggler query it
}

TEST_CASE("straggler search: a report is valid until the next one, and while its rank is awaited") {
    straggler_search search;
    search.begin_round(ranks{1});
    search.receive(1, {{5}, {}});
    search.begin_round(ranks{1});
    CHECK(search.stragglers(ranks{1}) == ranks{5});
    CHECK(queried_by(search) == ranks{1});  // it may wait for others by now
    search.receive(1, {{6}, {}});
    CHECK(search.stragglers(ranks{1}) == ranks{6});
    CHECK(search.stragglers(ranks{1, 7}) == ranks{6, 7});
    CHECK(search.stragglers(ranks{}).empty());
}

TEST_CASE("straggler search: a report is new if it names other ranks or newly started ones") {
    straggler_search search;
    search.begin_round(ranks{1});
    CHECK(search.receive(1, {{}, {}}));
    CHECK(!search.receive(1, {{}, {}}));
    CHECK(search.receive(1, {{5}, {}}));
    CHECK(!search.receive(1, {{5}, {}}));
    CHECK(search.receive(1, {{5}, {4}}));
    CHECK(!search.receive(1, {{5}, {4}}));
    CHECK(!search.receive(2, {{6}, {2}}));
}

TEST_CASE("straggler search: a rank that has started is no straggler, and its reports count") {
    straggler_search search;
    search.begin_round(ranks{1, 2});
    search.receive(1, {{2}, {}});
    search.receive(2, {{1}, {}});
    CHECK(search.stragglers(ranks{1, 2}).empty());
    search.begin_round(ranks{1});
    CHECK(search.stragglers(ranks{1}).empty());
    search.receive(1, {{2, 5}, {}});
    CHECK(search.stragglers(ranks{1}) == ranks{5});
}

TEST_CASE("straggler search: queries are retried, and reports of ranks not queried are ignored") {
    straggler_search search;
    search.begin_round(ranks{1, 2});
    search.query([](auto rank) { return rank != 1; });
    CHECK(queried_by(search) == ranks{1});
    search.receive(4, {{7}, {}});
    CHECK(search.stragglers(ranks{1, 2}) == ranks{1, 2});
    CHECK(search.stragglers(ranks{4}) == ranks{4});
}

TEST_CASE(
    "straggler search: a rank that has not replied is queried again, also if no longer awaited") {
    straggler_search search;
    search.begin_round(ranks{1, 2});
    CHECK(queried_by(search) == ranks{1, 2});
    search.receive(1, {{}, {}});
    search.begin_round(ranks{3});
    CHECK(queried_by(search) == ranks{3, 2});
}

TEST_CASE("straggler search: askers get changes, also of the ranks that have started") {
    straggler_search search;
    search.begin_round(ranks{5, 6});
    CHECK(search.reply_to(3, {5, 6}).started.empty());
    CHECK(search.reply_to(4, {5, 6}).waiting_for == ranks{5, 6});
    search.receive(5, {{7}, {}});
    const ranks now{6, 7};
    CHECK(search.reply_to(3, now).started == ranks{5});
    ranks sent;
    const auto send_updates = [&](bool can) {
        search.send_updates(now, [&](auto rank, const straggler_search::report& report) {
            sent.push_back(rank);
            CHECK(report.waiting_for == now);
            CHECK(report.started == ranks{5});
            return can;
        });
    };
    send_updates(false);
    send_updates(true);
    send_updates(true);
    CHECK(sent == ranks{4, 4});
}

TEST_CASE("straggler search: every asker that got a name learns when that rank starts") {
    straggler_search search;
    search.begin_round(ranks{5});
    static_cast<void>(search.reply_to(3, {5}));
    std::vector<straggler_search::report> sent;
    const auto send_updates = [&](const ranks& waiting_for) {
        search.send_updates(waiting_for, [&](auto, const straggler_search::report& report) {
            sent.push_back(report);
            return true;
        });
    };
    send_updates({6});
    search.receive(5, {{}, {}});
    send_updates({6});
    send_updates({6});
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].started.empty());
    CHECK(sent[1].waiting_for == ranks{6});
    CHECK(sent[1].started == ranks{5});
}

TEST_CASE("straggler search: started ranks are reported in as many messages as needed") {
    straggler_search search;
    const ranks some{1, 2, 3, 4, 5}, others{6, 7, 8};
    static_cast<void>(search.reply_to(9, some));
    static_cast<void>(search.reply_to(9, others));
    ranks all = some;
    all.insert(all.end(), others.begin(), others.end());
    search.begin_round(all);
    for (const auto each : all)
        search.receive(each, {{}, {}});
    CHECK(search.reply_to(9, {}).started == some);
    CHECK(search.reply_to(9, {}).started == others);
    CHECK(search.reply_to(9, {}).started.empty());
}

// Before a fix, each of two ranks had the name from the other, long after that rank had started.
TEST_CASE("straggler search: ranks that wait for each other do not keep a name alive") {
    straggler_search search;
    search.begin_round(ranks{1, 2});
    search.receive(1, {{5}, {}});  // rank 1 found that out itself
    search.receive(2, {{5}, {}});  // rank 2 had it from this rank
    search.receive(1, {{6}, {5}});
    CHECK(search.stragglers(ranks{1, 2}) == ranks{6});
    search.receive(2, {{5}, {}});  // sent before rank 2 received the update
    CHECK(search.stragglers(ranks{1, 2}) == ranks{6});
}
