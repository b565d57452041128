// Tests of siblings: groups of the same ranks, made in memory of the first one without an exchange.

#include "test/unit/ucg/core/world.hpp"

namespace {

std::uint32_t siblings_left(ucg_group_h group) {
    ucg_group_attr_t attr = UCG_GROUP_ATTR_INIT;
    REQUIRE(ucg_group_query(group, &attr) == UCS_OK);
    return attr.siblings_left;
}

// Makes a second group of the world's ranks; rank i wants wished[i] siblings.
std::vector<ucg_group_h> make_groups(test::world& in, const std::vector<std::uint32_t>& wished) {
    test::board board(in.size());
    std::vector<ucg_group_h> made(in.size());
    for (std::uint32_t rank = 0; rank < in.size(); ++rank) {
        ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
        params.oob = board.oob(rank);
        params.siblings = wished[rank];
        REQUIRE(ucg_group_create(in.contexts[rank], &params, &made[rank]) == UCS_OK);
    }
    REQUIRE(test::world::wait(in, made) == UCS_OK);
    return made;
}

std::vector<ucg_group_h> make_siblings(const std::vector<ucg_group_h>& of_groups) {
    std::vector<ucg_group_h> made(of_groups.size());
    for (std::size_t rank = 0; rank < made.size(); ++rank)
        REQUIRE(ucg_group_make_sibling(of_groups[rank], &made[rank]) == UCS_OK);
    return made;
}

void destroy(const std::vector<ucg_group_h>& groups) {
    for (const ucg_group_h each : groups)
        ucg_group_destroy(each);
}

// Runs an allreduce in some groups at the same time, of one number of each rank or of more than fit
// into a slot. Every rank starts them in another order.
void check_sums(test::world& in, const std::vector<std::vector<ucg_group_h>>& groups,
                std::size_t count) {
    std::vector<std::vector<std::int64_t>> data;
    std::vector<std::unique_ptr<test::requests>> all;
    for (std::size_t which = 0; which < groups.size(); ++which) {
        all.push_back(std::make_unique<test::requests>(in, groups[which]));
        for (std::uint32_t rank = 0; rank < in.size(); ++rank) {
            data.emplace_back(count, static_cast<std::int64_t>(which * 100 + rank));
            ucg_coll_args_t args = test::call_of(UCG_COLL_ALLREDUCE, nullptr, data.back().data(),
                                                 count, UCG_TYPE_INT64);
            args.flags = UCG_COLL_IN_PLACE;
            all.back()->add(rank, args);
        }
    }
    for (std::uint32_t rank = 0; rank < in.size(); ++rank)
        for (std::size_t i = 0; i < all.size(); ++i)
            REQUIRE(ucg_request_start(all[(i + rank) % all.size()]->all()[rank]) == UCS_OK);
    REQUIRE(in.run_until(
        [&] { return std::ranges::all_of(all, [](const auto& each) { return each->over(); }); }));
    for (std::size_t i = 0; i < data.size(); ++i) {
        const auto which = static_cast<std::int64_t>(i / in.size());
        const std::int64_t size = in.size();
        CHECK(data[i].front() == size * which * 100 + size * (size - 1) / 2);
        CHECK(data[i].back() == data[i].front());
    }
}

}  // namespace

TEST_CASE("siblings are groups of their own, and outlive the first one") {
    test::world in({"a", "a", "a"});
    const auto first = make_groups(in, {3, 2, 7});
    CHECK(siblings_left(first[0]) == 2);
    const auto one = make_siblings(first), two = make_siblings(first);
    for (const ucg_group_h each : first) {
        ucg_group_h none = nullptr;
        CHECK(siblings_left(each) == 0);
        CHECK(ucg_group_make_sibling(each, &none) == UCS_ERR_NO_RESOURCE);
    }
    CHECK(ucg_group_rank(one[2]) == 2);
    CHECK(ucg_group_size(two[1]) == 3);
    CHECK(siblings_left(two[1]) == 0);
    for (const std::size_t count : {1U, 50'000U})
        check_sums(in, {first, one, in.groups, two}, count);
    destroy(first);
    destroy(one);
    check_sums(in, {two}, 1000);
    destroy(two);
}

TEST_CASE("siblings are limited by their number, and made on one node only") {
    test::world near({"a", "a"});
    const auto many = make_groups(near, {1000, 1000});
    CHECK(siblings_left(many[0]) > 0);
    CHECK(siblings_left(many[0]) <= 63);
    CHECK(siblings_left(many[0]) == siblings_left(many[1]));
    destroy(many);
    test::world far({"a", "b"});
    const auto none = make_groups(far, {5, 5});
    CHECK(siblings_left(none[0]) == 0);
    CHECK(siblings_left(far.groups[0]) == 0);
    destroy(none);
}

TEST_CASE("the failure of one sibling does not end the others") {
    test::world in({"a", "a"});
    const auto first = make_groups(in, {2, 2});
    const auto one = make_siblings(first), two = make_siblings(first);
    ucg_group_destroy(one[0]);
    check_sums(in, {first, two}, 100);
    ucg_group_destroy(one[1]);
    destroy(first);
    destroy(two);
}

TEST_CASE("siblings of a missing or unfinished group are refused") {
    ucg_group_h none = nullptr;
    CHECK(ucg_group_make_sibling(nullptr, &none) == UCS_ERR_INVALID_PARAM);
    test::world in({"a", "a"});
    CHECK(ucg_group_make_sibling(in.groups[0], nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucg_group_make_sibling(in.groups[0], &none) == UCS_ERR_NO_RESOURCE);
    test::board board(2);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = board.oob(1);
    params.siblings = 1;
    ucg_group_h waiting = nullptr;
    REQUIRE(ucg_group_create(in.contexts[1], &params, &waiting) == UCS_OK);
    CHECK(ucg_group_make_sibling(waiting, &none) == UCS_ERR_BUSY);
    ucg_group_destroy(waiting);
}
