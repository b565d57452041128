#include "uct/tcp/settings.hpp"

#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "ucs/config/source.hpp"
#include "uct/tcp/data/send_queue.hpp"
#include "uct/tcp/socket.hpp"

using namespace uct::tcp;

TEST_CASE("the defaults of the tcp options are right values") {
    const auto loaded = ucs::config::load<settings>(ucs::config::source::empty());
    REQUIRE(loaded);
    CHECK(loaded->no_delay);
    CHECK(loaded->ports.first == 0);
    CHECK(loaded->families.order == std::vector{AF_INET, AF_INET6});
}

TEST_CASE("port ranges") {
    const auto range = [](const char* text) {
        auto from = ucs::config::source::empty();
        from.set("TCP_PORT_RANGE", text);
        return ucs::config::load<settings>(from);
    };
    CHECK(range("5000")->ports.last == 5000);
    CHECK(range("5000-5010")->ports.first == 5000);
    CHECK(range("5000-5010")->ports.last == 5010);
    for (const char* wrong : {"5010-5000", "0-7", "70000", "x", "5-", "-5", "5000-5010x"}) {
        CHECK_FALSE(range(wrong));
    }
}

TEST_CASE("the option for pieces is limited to the pieces of a message") {
    auto from = ucs::config::source::empty();
    from.set("TCP_MAX_IOV", "inf");
    CHECK(ucs::config::load<settings>(from)->max_pieces == max_zcopy_pieces);
}
