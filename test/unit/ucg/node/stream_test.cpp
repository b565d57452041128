// The receiver's end of a ring, and the words of a sender that it refuses.
#include "ucg/node/stream.hpp"

#include <catch2/catch.hpp>

#include "test/unit/ucg/node/group.hpp"

using namespace ucg::node;

namespace {

struct ring_of_two {
    geometry like = test::small_node(2);
    ucs::unique_fd file = *segment::make(like);
    segment memory = *segment::attach(file.get(), like);
    ring_control& words = memory.ring(1, 0);
    stream_in in{memory, 1, 0};
};

}  // namespace

TEST_CASE("a sender may fill the room of a ring that was given back, and no more") {
    ring_of_two made;
    const std::uint64_t size = made.like.ring_bytes;
    tell(made.words.written, size);
    REQUIRE(made.in.ready() == size);
    made.in.skip(size);

    SECTION("all of it, when it was given back") {
        REQUIRE(made.in.publish());
        tell(made.words.written, 2 * size);
        CHECK(made.in.ready() == size);
        CHECK(!made.in.broken());
    }
    SECTION("nothing before that, although it has been read") {
        tell(made.words.written, size + sizeof(frame));
        CHECK(made.in.ready() == 0);
        CHECK(made.in.broken());
    }
    SECTION("and takes nothing back") {
        REQUIRE(made.in.publish());
        tell(made.words.written, size - sizeof(frame));
        CHECK(made.in.ready() == 0);
        CHECK(made.in.broken());
    }
}
