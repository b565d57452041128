// Tests of the overflow checks of MPI counts, in both types of counts.
#include "ucg/mpi/fits.hpp"

#include <catch2/catch.hpp>
#include <climits>
#include <limits>
#include <vector>

using namespace ucg::mpi;

namespace {

using wide = std::int64_t;
constexpr wide widest = std::numeric_limits<wide>::max(), lowest = std::numeric_limits<wide>::min();

}  // namespace

TEST_CASE("MPI counts fit if their bytes do not overflow") {
    CHECK(fits(0, 8, ~std::uint64_t{0}));
    CHECK(fits(INT_MAX, 8, 16));
    CHECK(fits(widest, 1, 0));
    CHECK(fits(wide{1} << 40, 4, 1 << 20));
    CHECK_FALSE(fits((wide{1} << 40) + 1, 4, 1 << 20));
    CHECK_FALSE(fits(wide{1} << 61, 8, 1));   // the product wraps to 0
    CHECK_FALSE(fits(wide{1} << 61, 1, 16));  // wraps to 0 as well
    CHECK_FALSE(fits(INT_MAX, 2, most_bytes));
}

TEST_CASE("negative MPI counts do not fit") {
    CHECK_FALSE(fits(-1, 1, 1));
    CHECK_FALSE(fits(INT_MIN, 1, 0));
    CHECK_FALSE(fits(lowest, 2, 8));
}

TEST_CASE("block counts of MPI are summed up, or refused") {
    const std::vector<int> some{3, 0, INT_MAX};
    CHECK(sum_of(some.data(), 3) == std::uint64_t{INT_MAX} + 3);
    CHECK(sum_of(some.data(), 0) == std::uint64_t{0});
    CHECK_FALSE(sum_of<int>(nullptr, 1));
    const std::vector<int> negative{1, -1, 1};
    CHECK_FALSE(sum_of(negative.data(), 3));
    const std::vector<wide> large{widest, widest, 2};
    CHECK(sum_of(large.data(), 2) == ~std::uint64_t{0} - 1);
    CHECK_FALSE(sum_of(large.data(), 3));
}

TEST_CASE("blocks of MPI must fit with their places") {
    const std::vector<wide> counts{1, 2};
    const auto with = [&](wide place) {
        const std::vector<wide> places{0, place};
        return fit(counts.data(), places.data(), 2, 8);
    };
    constexpr wide most = static_cast<wide>(most_bytes) / 8;
    CHECK(with(-most + 2));
    CHECK(with(most - 2));
    CHECK_FALSE(with(most - 1));  // its end does not fit
    CHECK_FALSE(with(-most));
    CHECK_FALSE(with(widest));
    CHECK_FALSE(with(lowest));
    CHECK_FALSE(fit<wide, wide>(counts.data(), nullptr, 2, 8));
    const std::vector<wide> halves{most / 2 + 1, most / 2 + 1}, places{0, 0};
    CHECK_FALSE(fit(halves.data(), places.data(), 2, 8));  // each fits, both do not
}

TEST_CASE("an empty block of MPI may have any place") {
    const std::vector<int> counts{0, 1}, places{INT_MIN, 0};
    CHECK(fit(counts.data(), places.data(), 2, std::uint64_t{1} << 50));
}
