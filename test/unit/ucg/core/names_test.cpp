#include <ucg/api/ucg_info.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace {

std::set<std::string> algorithms_of(ucg_coll_t coll) {
    std::set<std::string> names;
    for (unsigned i = 0; ucg_algorithm_name(coll, i) != nullptr; ++i)
        names.insert(ucg_algorithm_name(coll, i));
    return names;
}

}  // namespace

TEST_CASE("the algorithms of each collective have names, including the node's engine") {
    for (int coll = 0; coll < UCG_COLL_LAST; ++coll) {
        const auto each = static_cast<ucg_coll_t>(coll);
        INFO(ucg_coll_name(each));
        CHECK(algorithms_of(each).size() >= 2);
        CHECK(algorithms_of(each).count("shared_memory") == 1);
    }
    CHECK(algorithms_of(UCG_COLL_ALLREDUCE).count("ring") == 1);
    CHECK(algorithms_of(UCG_COLL_BARRIER).count("ring") == 0);
}

TEST_CASE("unknown collectives have no algorithms") {
    CHECK(ucg_algorithm_name(UCG_COLL_LAST, 0) == nullptr);
    CHECK(ucg_algorithm_name(UCG_COLL_ANY_INT, 0) == nullptr);
    CHECK(ucg_algorithm_name(UCG_COLL_BARRIER, ~0U) == nullptr);
}
