#include "ucg/schedule/reducer.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace ucg::schedule;

namespace {

// a op b = 10 a + b, so the result shows the order of operands.
void append_digits(const void* in, void* inout, std::size_t count, void* calls) {
    const auto* left = static_cast<const std::uint64_t*>(in);
    auto* right = static_cast<std::uint64_t*>(inout);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t unit = 10;
        while (unit <= right[i])
            unit *= 10;
        right[i] += left[i] * unit;
    }
    ++*static_cast<int*>(calls);
}

}  // namespace

TEST_CASE("a user function gets lower ranks on the left, for every destination") {
    int calls = 0;
    const user_reducer op(append_digits, &calls, 8, false);
    const std::size_t count = 3000;  // longer than the buffer
    for (int place = -1; place < 3; ++place) {
        std::vector<std::uint64_t> a(count, 1), b(count, 2), c(count, 3), other(count);
        std::vector<std::uint64_t>* into[] = {&other, &a, &b, &c};
        std::vector<std::uint64_t>& result = *into[place + 1];
        op.apply(result.data(), {&op, {a.data(), b.data(), c.data()}, 3, count, true});
        CHECK(result == std::vector<std::uint64_t>(count, 123));
    }
    CHECK(calls > 0);
}

TEST_CASE("an average is divided in the last step only") {
    const kernel_reducer op(ucg::reduce::element::fp32, ucg::reduce::operation::average, 4);
    const float a = 6, b = 10;
    float result = 0;
    op.apply(&result, {&op, {&a, &b}, 2, 1, false});
    CHECK(result == 16);
    op.apply(&result, {&op, {&a, &b}, 2, 1, true});
    CHECK(result == 4);
}

TEST_CASE("each built-in reducer has its own kind") {
    std::set<std::uint16_t> kinds;
    std::size_t built_in = 0;
    for (std::size_t type = 0; type < ucg::reduce::element_count; ++type) {
        for (std::size_t i = 0; i < ucg::reduce::operation_count; ++i) {
            const auto element = static_cast<ucg::reduce::element>(type);
            const auto op = static_cast<ucg::reduce::operation>(i);
            if (!is_defined(element, op)) continue;
            kinds.insert(kernel_reducer(element, op, 2).kind());
            ++built_in;
        }
    }
    CHECK(kinds.size() == built_in);
    CHECK(kinds.count(0) == 0);
    const auto nothing = [](const void*, void*, std::size_t, void*) {};
    CHECK(user_reducer(nothing, nullptr, 8, true).kind() == 0);
}
