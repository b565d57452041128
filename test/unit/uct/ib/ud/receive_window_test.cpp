#include "uct/ib/ud/base/receive_window.hpp"

#include <catch2/catch.hpp>
#include <vector>

using uct::ud::psn;
using window = uct::ud::receive_window<int>;

TEST_CASE("a packet's turn is now, early, again or far") {
    const psn first(0xfffffff0U);
    window win(first);
    CHECK(win.turn_of(first) == window::turn::now);
    CHECK(win.turn_of(first + 1) == window::turn::early);
    CHECK(win.turn_of(first + (window::slots - 1)) == window::turn::early);
    CHECK(win.turn_of(first + window::slots) == window::turn::far);
    CHECK(win.turn_of(first + 0x7fffffffU) == window::turn::far);
    CHECK(win.turn_of(first + 0xffffffffU) == window::turn::again);
    CHECK(win.turn_of(first + 0x80000001U) == window::turn::again);
}

TEST_CASE("early packets are kept until their turn and reported") {
    const psn first(0xfffffffeU);
    window win(first);
    REQUIRE(win.keep(first + 2, 102));
    REQUIRE(win.keep(first + 1, 101));
    REQUIRE(win.keep(first + 5, 105));
    CHECK(win.turn_of(first + 2) == window::turn::again);
    CHECK(win.beyond() == 0b10011);
    CHECK(win.kept() == 3);
    std::vector<int> taken;
    win.advance();  // the first packet has come
    while (const int next = win.take()) {
        taken.push_back(next);
        win.advance();
    }
    CHECK(taken == std::vector<int>{101, 102});
    CHECK(win.expected() == first + 3);
    CHECK(win.beyond() == 0b10);
}

TEST_CASE("all slots can be used repeatedly") {
    psn next(7);
    window win(next);
    for (int round = 0; round < 5; ++round) {
        for (std::uint32_t i = 1; i < window::slots; ++i)
            REQUIRE(win.keep(next + i, static_cast<int>(next.value() + i)));
        CHECK(win.kept() == window::slots - 1);
        win.advance();
        ++next;
        while (const int kept = win.take()) {
            REQUIRE(kept == static_cast<int>(next.value()));
            win.advance();
            ++next;
        }
        CHECK(win.beyond() == 0);
        CHECK(win.expected() == next);
    }
}

TEST_CASE("a window that restarts returns its kept packets") {
    window win(psn(10));
    REQUIRE(win.keep(psn(12), 12));
    REQUIRE(win.keep(psn(40), 40));
    std::vector<int> released;
    win.drop([&](int each) { released.push_back(each); });
    CHECK(released == std::vector<int>{12, 40});
    win.restart(psn(5));
    CHECK(win.expected() == psn(5));
    CHECK(win.beyond() == 0);
    CHECK(win.take() == 0);
}
