// Unit tests: connections without endpoints are removed when they have ended.
#include "uct/ib/ud/base/lingering_connections.hpp"

#include <catch2/catch.hpp>

using namespace uct::ud;

namespace {

class some_connections {
public:
    connection& add() {
        all.reserve(all.size());
        auto made = std::make_unique<connection>(to_, sender::setup{});
        made->id = all.size() + 1;
        connection& added = *made;
        all.add(std::move(made));
        return added;
    }
    std::vector<std::uint64_t> remove_ended() {
        std::vector<std::uint64_t> removed;
        all.remove_ended([&](const connection& each) { removed.push_back(each.id); });
        return removed;
    }
    void end(connection& which) {
        which.protocol.fail(UCS_ERR_CANCELED);
        all.note(which);
    }

    lingering_connections all;

private:
    const std::shared_ptr<peer> to_ = std::make_shared<peer>();
};

using ids = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("only connections that have ended are visited") {
    some_connections some;
    std::vector<connection*> added;
    for (int i = 0; i < 1000; ++i)
        added.push_back(&some.add());
    CHECK_FALSE(some.all.have_ended());
    CHECK(some.remove_ended().empty());
    some.all.note(*added[3]);  // the connection changes, but has not ended
    CHECK_FALSE(some.all.have_ended());
    some.end(*added[500]);
    some.all.note(*added[500]);
    CHECK(some.all.have_ended());
    CHECK(some.remove_ended() == ids{501});
    CHECK(some.all.size() == 999);
    // Other connections have moved to the indices of removed ones.
    for (const std::size_t each : {0UL, 999UL, 998UL})
        some.end(*added[each]);
    CHECK(some.remove_ended() == ids{1, 1000, 999});
    std::size_t left = 0;
    some.all.for_each(
        [&](const connection& each) { left += each.protocol.is_ended() ? 1000U : 1U; });
    CHECK(left == 996);
    for (std::size_t i = 1; i < 998; ++i) {
        if (i != 500) some.end(*added[i]);
    }
    CHECK(some.remove_ended().size() == 996);
    CHECK(some.all.size() == 0);
}

TEST_CASE("a connection that ended before it lingers is removed at once") {
    some_connections some;
    auto ended = std::make_unique<connection>(std::make_shared<peer>(), sender::setup{});
    ended->id = 7;
    ended->protocol.fail(UCS_ERR_CANCELED);
    some.all.note(*ended);  // it still has an endpoint
    CHECK_FALSE(some.all.have_ended());
    some.all.reserve(0);
    some.all.add(std::move(ended));
    CHECK(some.remove_ended() == ids{7});
}
