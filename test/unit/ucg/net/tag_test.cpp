// Tests of the tags of messages.
#include "ucg/net/tag.hpp"

#include <catch2/catch.hpp>

using namespace ucg::net;

TEST_CASE("tags: different messages have different tags, equal under the mask of their operation") {
    const auto one = message_tag(3, 7, 2, 11);
    CHECK(one != message_tag(4, 7, 2, 11));
    CHECK(one != message_tag(3, 8, 2, 11));
    CHECK(one != message_tag(3, 7, 3, 11));
    CHECK(one != message_tag(3, 7, 2, 12));
    CHECK((one & operation_mask) == operation_tag(3, 7));
    CHECK((message_tag(3, 7, 4095, max_ranks - 1) & operation_mask) == operation_tag(3, 7));
    CHECK((message_tag(max_groups - 1, 8, 0, 0) & operation_mask) != operation_tag(3, 7));
    CHECK((operation_tag(3, 7) & group_mask) == (one & group_mask));
    CHECK((operation_tag(2, 7) & group_mask) != (one & group_mask));
    // The first operations of the two series.
    CHECK(operation_tag(3, 0) != operation_tag(3, ucg::schedule::sequence_numbers::series_bit));
    // Numbers wrap around.
    CHECK(operation_tag(3, 7) == operation_tag(3, 7 + (1U << sequence_bits)));
}
