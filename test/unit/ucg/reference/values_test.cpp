// Tests the inputs and expected results of reductions.
#include "ucg/reference/values.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace ucg::reference;

namespace {

// Calls `with` for each type and each operation that is defined for it.
template<class With>
void each_pair(const With& with) {
    for (int type = 0; type < UCG_TYPE_OPAQUE; ++type)
        for (int op = 0; op < UCG_OP_USER; ++op)
            if (ucg_op_is_defined(static_cast<ucg_type_t>(type), static_cast<ucg_op_t>(op)) != 0)
                with(static_cast<ucg_type_t>(type), static_cast<ucg_op_t>(op));
}

number through_memory(ucg_type_t type, const number& value) {
    std::vector<unsigned char> bytes(ucg_type_size(type));
    store(type, bytes.data(), value);
    return load(type, bytes.data());
}

}  // namespace

TEST_CASE("inputs and results can be represented in the type") {
    each_pair([](ucg_type_t type, ucg_op_t op) {
        INFO(ucg_type_name(type) << " " << ucg_op_name(op));
        for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 100U}) {
            const numbers values(type, op, ranks);
            for (std::uint64_t index = 0; index < 20; ++index) {
                const number given = values.given(index, 3, ranks - 1);
                CHECK(through_memory(type, given) == given);
                for (const std::uint32_t rank_count : {1U, ranks}) {
                    const number right = values.reduced(index, 3, rank_count);
                    if (op == UCG_OP_AVERAGE)
                        CHECK(values.matches(through_memory(type, right), right));
                    else
                        CHECK(through_memory(type, right) == right);
                }
            }
        }
    });
}

TEST_CASE("results of other rounds, other elements and fewer ranks are detected") {
    constexpr std::uint32_t ranks = 4;
    each_pair([](ucg_type_t type, ucg_op_t op) {
        INFO(ucg_type_name(type) << " " << ucg_op_name(op));
        const numbers values(type, op, ranks);
        int round = 0, element = 0, rank = 0;
        for (std::uint64_t index = 0; index < 1000; ++index) {
            const number right = values.reduced(index, 5, ranks);
            CHECK(values.matches(right, right));
            round += !values.matches(values.reduced(index, 6, ranks), right);
            element += !values.matches(values.reduced(index + 1, 5, ranks), right);
            rank += !values.matches(values.reduced(index, 5, ranks - 1), right);
        }
        CHECK(round > 30);
        CHECK(element > 30);
        CHECK(rank > 10);
    });
}

TEST_CASE("the lower index wins among equal values") {
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
