// Tests of the request pool and of the user's area behind each request.
#include "ucp/core/request_pool.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

namespace {

// Globals, because the user's callbacks have no argument of their own.
std::set<void*> alive;
unsigned made = 0;
unsigned doubled = 0;

void init(void* area) {
    ++made;
    if (!alive.insert(area).second) ++doubled;
    std::memset(area, 0x11, 40);
}

void cleanup(void* area) {
    if (alive.erase(area) != 1) ++doubled;
}

struct counted {
    counted() {
        alive.clear();
        made = doubled = 0;
    }
};

ucp::request_pool::user_area area() {
    return {40, init, cleanup};
}

}  // namespace

TEST_CASE("Init runs once per object, cleanup once when the pool is destroyed", "[request_pool]") {
    const counted fresh;
    {
        ucp::request_pool pool(area());
        REQUIRE(made == 0);  // no memory before the first request
        for (int round = 0; round < 5; ++round) {
            std::vector<ucp::request*> taken;
            for (int i = 0; i < 300; ++i)
                taken.push_back(pool.get());
            REQUIRE(pool.in_use() == 300);
            for (ucp::request* each : taken) {
                REQUIRE(alive.count(each->handle()) == 1);
                pool.put(*each);
            }
            REQUIRE(pool.in_use() == 0);
        }
        REQUIRE(made >= 300);
        REQUIRE(made < 600);  // later rounds use the same objects
        REQUIRE(alive.size() == made);
    }
    REQUIRE(alive.empty());
    REQUIRE(doubled == 0);
}

TEST_CASE("Contents of the user's area survive reuse", "[request_pool]") {
    const counted fresh;
    ucp::request_pool pool(area());
    ucp::request* first = pool.get();
    std::memset(first->handle(), 0x77, 40);
    pool.put(*first);
    ucp::request* again = pool.get();
    REQUIRE(again == first);
    const auto* bytes = static_cast<const unsigned char*>(again->handle());
    for (int i = 0; i < 40; ++i)
        REQUIRE(bytes[i] == 0x77);
    pool.put(*again);
}

TEST_CASE("The members that a short message's receive uses lie in two cache lines",
          "[request_pool]") {
    ucp::request_pool pool({});
    ucp::request* receive = pool.get();
    ucp::recv_state& state = receive->start_recv();
    const auto* begin = reinterpret_cast<const std::byte*>(receive);
    constexpr std::size_t contiguous_buffer =
        24;  // its first members, the only ones that plain memory needs
    CHECK(reinterpret_cast<const std::byte*>(&state.buffer) + contiguous_buffer - begin <= 128);
    CHECK(reinterpret_cast<const std::byte*>(&state.info + 1) - begin <= 128);
    CHECK(reinterpret_cast<const std::byte*>(&receive->via + 1) - begin <= 128);
    pool.put(*receive);
}

TEST_CASE("Handles are aligned, apart, and lead back to their request", "[request_pool]") {
    const counted fresh;
    ucp::request_pool pool(area());
    ucp::request* a = pool.get();
    ucp::request* b = pool.get();
    for (ucp::request* each : {a, b}) {
        REQUIRE(reinterpret_cast<std::uintptr_t>(each) % 64 == 0);
        REQUIRE(reinterpret_cast<std::uintptr_t>(each->handle()) % 16 == 0);
        REQUIRE(&ucp::request::of(each->handle()) == each);
    }
    const auto distance = reinterpret_cast<std::byte*>(a) - reinterpret_cast<std::byte*>(b);
    REQUIRE(static_cast<std::size_t>(std::abs(distance)) >= sizeof(ucp::request) + 40);
    pool.put(*a);
    pool.put(*b);
}
