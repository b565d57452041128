#include "uct/ib/ud/base/receive_window.hpp"

#include <catch2/catch.hpp>
#include <vector>

using uct::ud::psn;
using window = uct::ud::receive_window<int>;

TEST_CASE("a packet's turn is now, early, again or far") {
    const psn first(0xfffffff0U);
    window of(first);
    CHECK(of.turn_of(first) == window::turn::now);
    CHECK(of.turn_of(first + 1) == window::turn::early);
    CHECK(of.turn_of(first + (window::places - 1)) == window::turn::early);
    CHECK(of.turn_of(first + window::places) == window::turn::far);
    CHECK(of.turn_of(first + 0x7fffffffU) == window::turn::far);
    CHECK(of.turn_of(first + 0xffffffffU) == window::turn::again);
    CHECK(of.turn_of(first + 0x80000001U) == window::turn::again);
}

TEST_CASE("early packets are kept until their turn, and said to be there") {
    const psn first(0xfffffffeU);
    window of(first);
    REQUIRE(of.keep(first + 2, 102));
    REQUIRE(of.keep(first + 1, 101));
    REQUIRE(of.keep(first + 5, 105));
    CHECK(of.turn_of(first + 2) == window::turn::again);
    CHECK(of.beyond() == 0b10011);
    CHECK(of.kept() == 3);
    std::vector<int> taken;
    of.advance();  // the first has come
    while (const int next = of.take()) {
        taken.push_back(next);
        of.advance();
    }
    CHECK(taken == std::vector<int>{101, 102});
    CHECK(of.expected() == first + 3);
    CHECK(of.beyond() == 0b10);
}

TEST_CASE("all places may be taken, again and again") {
    psn next(7);
    window of(next);
    for (int round = 0; round < 5; ++round) {
        for (std::uint32_t i = 1; i < window::places; ++i)
            REQUIRE(of.keep(next + i, static_cast<int>(next.value() + i)));
        CHECK(of.kept() == window::places - 1);
        of.advance();
        ++next;
        while (const int kept = of.take()) {
            REQUIRE(kept == static_cast<int>(next.value()));
            of.advance();
            ++next;
        }
        CHECK(of.beyond() == 0);
        CHECK(of.expected() == next);
    }
}

TEST_CASE("a window that starts anew gives back what it kept") {
    window of(psn(10));
    REQUIRE(of.keep(psn(12), 12));
    REQUIRE(of.keep(psn(40), 40));
    std::vector<int> released;
    of.drop([&](int each) { released.push_back(each); });
    CHECK(released == std::vector<int>{12, 40});
    of.restart(psn(5));
    CHECK(of.expected() == psn(5));
    CHECK(of.beyond() == 0);
    CHECK(of.take() == 0);
}
