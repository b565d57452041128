#include "uct/self/message_ring.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <vector>

#include "ucs/random/seeded.hpp"

namespace {

// Adds a message whose bytes are all `fill`. Returns false if there is no room.
bool put(uct::message_ring& ring, std::size_t length, std::uint8_t fill) {
    uct::message_ring::record* place = ring.reserve(length);
    if (place == nullptr) return false;
    std::memset(place->data(), fill, length);
    ring.commit(*place, fill % uct::am_id_count, length);
    return true;
}

void check_front(uct::message_ring& ring, std::size_t length, std::uint8_t fill) {
    uct::message_ring::record& oldest = ring.front();
    REQUIRE(oldest.length == length);
    REQUIRE(oldest.id == fill % uct::am_id_count);
    REQUIRE(reinterpret_cast<std::uintptr_t>(oldest.data()) % 16 == 0);
    const std::vector<std::byte> wanted(length, static_cast<std::byte>(fill));
    REQUIRE((length == 0 || std::memcmp(oldest.data(), wanted.data(), length) == 0));
}

}  // namespace

TEST_CASE("message_ring returns messages in order, with their bytes, whatever their lengths") {
    constexpr std::size_t capacity = 4096;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        ucs::sys::random dice(seed);
        uct::message_ring ring(capacity);
        std::deque<std::pair<std::size_t, std::uint8_t>> model;
        std::uint8_t fill = 0;
        for (unsigned turn = 0; turn < 2000; ++turn) {
            if (dice.chance(0.55)) {
                const std::size_t length = dice.below(dice.chance(0.1) ? 1500 : 100);
                if (put(ring, length, ++fill)) model.emplace_back(length, fill);
            } else if (!model.empty()) {
                check_front(ring, model.front().first, model.front().second);
                ring.pop();
                model.pop_front();
            }
            REQUIRE(ring.count() == model.size());
        }
    }
}

TEST_CASE("message_ring refuses a message that does not fit and takes it when there is room") {
    uct::message_ring ring(1024);
    CHECK(ring.reserve(1024) == nullptr);
    REQUIRE(put(ring, 1008, 1));
    CHECK_FALSE(put(ring, 0, 2));
    ring.pop();
    REQUIRE(put(ring, 1008, 3));
    check_front(ring, 1008, 3);
}

TEST_CASE("message_ring gives the unused space of a shortened message to the next one") {
    uct::message_ring ring(1024);
    uct::message_ring::record* place = ring.reserve(1000);
    REQUIRE(place != nullptr);
    std::memset(place->data(), 1, 8);
    ring.commit(*place, 1, 8);
    CHECK(put(ring, 900, 2));
    check_front(ring, 8, 1);
}

TEST_CASE("message_ring that ran empty starts again at its beginning") {
    uct::message_ring ring(1024);
    REQUIRE(put(ring, 100, 1));
    const std::byte* const first = ring.front().data();
    for (std::uint8_t i = 0; i < 100; ++i) {
        ring.pop();
        REQUIRE(put(ring, 100, i));
        CHECK(ring.front().data() == first);
    }
}
