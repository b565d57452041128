// Tests of the receiver's end of a ring: positions of a sender that it refuses.
#include "ucg/node/rings/stream.hpp"

#include <catch2/catch.hpp>

#include "test/unit/ucg/node/group.hpp"

using namespace ucg::node;

namespace {

struct ring_of_two {
    geometry layout = test::small_node(2);
    ucs::unique_fd file = *shared_memory::make(layout);
    shared_memory memory = *shared_memory::attach(file.get(), layout);
    ring_control& words = memory.ring(1, 0);
    stream_in in{memory, 1, 0};
};

}  // namespace

TEST_CASE("a sender may fill only the room of a ring that was given back") {
    ring_of_two made;
    const std::uint64_t size = made.layout.ring_bytes;
    store_release(made.words.written, size);
    REQUIRE(made.in.ready() == size);
    made.in.skip(size);

    SECTION("all of it, after it was given back") {
        REQUIRE(made.in.publish());
        store_release(made.words.written, 2 * size);
        CHECK(made.in.ready() == size);
        CHECK(!made.in.is_broken());
    }
    SECTION("nothing before that, even if it has been read") {
        store_release(made.words.written, size + sizeof(frame));
        CHECK(made.in.ready() == 0);
        CHECK(made.in.is_broken());
    }
    SECTION("it may not take bytes back") {
        REQUIRE(made.in.publish());
        store_release(made.words.written, size - sizeof(frame));
        CHECK(made.in.ready() == 0);
        CHECK(made.in.is_broken());
    }
}
