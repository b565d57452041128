#include "tools/ucg_perf/numbers.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace tools::ucg_perf;

namespace {

// Calls `with` for every operation that every type has.
template<class With>
void each_pair(const With& with) {
    for (int type = 0; type < UCG_TYPE_OPAQUE; ++type)
        for (int op = 0; op < UCG_OP_USER; ++op)
            if (ucg_op_is_defined(static_cast<ucg_type_t>(type), static_cast<ucg_op_t>(op)) != 0)
                with(static_cast<ucg_type_t>(type), static_cast<ucg_op_t>(op));
}

number through_memory(const numbers& by, const number& what) {
    std::vector<unsigned char> bytes(by.element());
    by.store(bytes.data(), what);
    return by.load(bytes.data());
}

bool same(const number& one, const number& other) {
    return one.value == other.value && one.second == other.second;
}

}  // namespace

TEST_CASE("ucg_perf: what is given and what comes out can be represented") {
    each_pair([](ucg_type_t type, ucg_op_t op) {
        INFO(ucg_type_name(type) << " " << ucg_op_name(op));
        for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 100U}) {
            const numbers by(type, op, ranks);
            REQUIRE(by.element() == ucg_type_size(type));
            for (std::uint64_t index = 0; index < 20; ++index) {
                const number given = by.given(index, 3, ranks - 1);
                CHECK(same(through_memory(by, given), given));
                for (const std::uint32_t upto : {1U, ranks}) {
                    const number right = by.reduced(index, 3, upto);
                    if (op == UCG_OP_AVERAGE)
                        CHECK(by.agrees(through_memory(by, right), right));
                    else
                        CHECK(same(through_memory(by, right), right));
                }
            }
        }
    });
}

TEST_CASE("ucg_perf: results of other rounds, other elements and fewer ranks are seen") {
    constexpr std::uint32_t ranks = 4;
    each_pair([](ucg_type_t type, ucg_op_t op) {
        INFO(ucg_type_name(type) << " " << ucg_op_name(op));
        const numbers by(type, op, ranks);
        int round = 0, element = 0, rank = 0;
        for (std::uint64_t index = 0; index < 1000; ++index) {
            const number right = by.reduced(index, 5, ranks);
            CHECK(by.agrees(right, right));
            round += !by.agrees(by.reduced(index, 6, ranks), right);
            element += !by.agrees(by.reduced(index + 1, 5, ranks), right);
            rank += !by.agrees(by.reduced(index, 5, ranks - 1), right);
        }
        CHECK(round > 30);
        CHECK(element > 30);
        CHECK(rank > 10);
    });
}

TEST_CASE("ucg_perf: places decide among equal values") {
    const numbers least(UCG_TYPE_FP32_AT, UCG_OP_MIN_AT, 64);
    for (std::uint64_t index = 0; index < 50; ++index) {
        const number best = least.reduced(index, 1, 64);
        for (std::uint32_t rank = 0; rank < 64; ++rank) {
            const number each = least.given(index, 1, rank);
            CHECK(each.value >= best.value);
            if (each.value == best.value) CHECK(each.second >= best.second);
        }
    }
}
