#include "tools/info/transport_list.hpp"

#include <catch2/catch.hpp>

using namespace tools::info;

namespace {

std::string both(const char* one, const char* other) {
    return intersection(transport_list::parse(one), transport_list::parse(other)).text();
}

std::string allowed_by(device_kind kinds, placement peer, const char* list = "all") {
    options opts;
    opts.kinds = kinds;
    opts.peer = peer;
    return intersection(transport_list::parse(list), restriction_of(opts).allowed).text();
}

}  // namespace

TEST_CASE("a list of transports has the form of UCX_TLS, with aliases replaced") {
    CHECK(transport_list::parse("tcp,self").text() == "tcp,self");
    CHECK(transport_list::parse("^self,sm").text() == "^self,posix,cma");
    CHECK(transport_list::parse("sm,posix,mm,shm").text() == "posix,cma");
    CHECK(transport_list::parse("tcp,all").text() == "all");
    CHECK(transport_list::parse("^all").text().empty());
}

TEST_CASE("the intersection has the transports of both lists") {
    CHECK(both("all", "^self") == "^self");
    CHECK(both("tcp", "^self") == "tcp");
    CHECK(both("^self", "tcp,self") == "tcp");
    CHECK(both("^tcp", "^self,sm") == "^self,posix,cma,tcp");
    CHECK(both("posix,tcp", "sm") == "posix");
    CHECK(both("ib,self", "^self") == "ib");  // the library reports transports that do not exist
    CHECK(both("tcp", "sm").empty());
    CHECK(both("^all", "tcp").empty());
}

TEST_CASE("options -D and -P together allow only transports that both allow") {
    CHECK(allowed_by(device_kind::all, placement::self) == "all");
    CHECK(allowed_by(device_kind::all, placement::intra) == "^self");
    CHECK(allowed_by(device_kind::all, placement::inter, "sm,tcp") == "tcp");
    CHECK(allowed_by(device_kind::shm, placement::intra) == "posix,cma");
    CHECK(allowed_by(device_kind::shm, placement::inter).empty());
    CHECK(allowed_by(device_kind::net, placement::self, "posix").empty());
}

TEST_CASE("a restriction names the options that make it") {
    options opts;
    CHECK(restriction_of(opts).reason.empty());
    opts.peer = placement::intra;
    CHECK(restriction_of(opts).reason == "-P intra");
    opts.kinds = device_kind::net;
    CHECK(restriction_of(opts).reason == "-D net -P intra");
}
