#include "ucp/proto/eager_window.hpp"

#include <catch2/catch.hpp>

using ucp::eager_window;

namespace {

// Sends messages of this length until half of the window is used; returns their number.
std::size_t send_half(eager_window& window, std::size_t length) {
    std::size_t count = 1;
    while (!window.add_sent(length))
        ++count;
    return count;
}

}  // namespace

TEST_CASE("credits are requested at half a window, without a grant, messages use rendezvous") {
    constexpr std::size_t window_size = 100'000;
    constexpr std::size_t length = 1000;
    eager_window window(window_size);
    std::size_t sent = send_half(window, length);
    CHECK(sent * (length + eager_window::message_cost) <= window_size / 2 + 2 * length);
    CHECK(window.next_step() == eager_window::step::request_credits);
    CHECK(!window.uses_rendezvous());
    sent += send_half(window, length);
    CHECK(window.next_step() == eager_window::step::use_rendezvous);
    CHECK(window.uses_rendezvous());
    CHECK(sent * (length + eager_window::message_cost) <= window_size + 2 * length);
    CHECK(window.on_granted());
    CHECK(!window.uses_rendezvous());
    CHECK(send_half(window, length) > 30);
}

TEST_CASE("a receiver that grants credits in time never stops its sender") {
    eager_window window(10'000);
    for (int i = 0; i < 1000; ++i) {
        (void)send_half(window, 100);
        REQUIRE(window.next_step() == eager_window::step::request_credits);
        CHECK(!window.on_granted());
    }
}

TEST_CASE("a grant that was not requested changes nothing") {
    eager_window window(10'000);
    const std::size_t all = send_half(window, 100);
    eager_window other(10'000);
    CHECK(!other.on_granted());
    CHECK(send_half(other, 100) == all);
}

TEST_CASE("a window that begins without credits opens with the first grant") {
    eager_window window(10'000);
    CHECK(window.begin_without_credits());
    CHECK(window.uses_rendezvous());
    CHECK(window.is_requested());
    CHECK(!window.begin_without_credits());
    CHECK(window.on_granted());
    CHECK(!window.uses_rendezvous());
    (void)send_half(window, 100);
    CHECK(window.next_step() == eager_window::step::request_credits);
}

TEST_CASE("a message longer than the window, and an infinite window, do no harm") {
    eager_window small(1000);
    CHECK(small.add_sent(std::size_t{1} << 40));
    CHECK(small.next_step() == eager_window::step::request_credits);
    CHECK(small.add_sent(1));
    CHECK(small.next_step() == eager_window::step::use_rendezvous);
    eager_window endless(~std::size_t{0});
    for (int i = 0; i < 1000; ++i)
        CHECK(!endless.add_sent(std::size_t{1} << 40));
}
