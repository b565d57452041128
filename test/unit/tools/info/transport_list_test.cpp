#include "tools/info/transport_list.hpp"

#include <catch2/catch.hpp>

using namespace tools::info;

namespace {

std::string both(const char* one, const char* other) {
    return intersection(transport_list::parse(one), transport_list::parse(other)).text();
}

std::string left_by(device_kind kinds, placement peer, const char* of = "all") {
    options wanted;
    wanted.kinds = kinds;
    wanted.peer = peer;
    return intersection(transport_list::parse(of), restriction_of(wanted).left).text();
}

}  // namespace

TEST_CASE("a list of transports is what UCX_TLS takes, without names for several") {
    CHECK(transport_list::parse("tcp,self").text() == "tcp,self");
    CHECK(transport_list::parse("^self,sm").text() == "^self,posix,cma");
    CHECK(transport_list::parse("sm,posix,mm,shm").text() == "posix,cma");
    CHECK(transport_list::parse("tcp,all").text() == "all");
    CHECK(transport_list::parse("^all").text().empty());
}

TEST_CASE("transports are left that are on both lists") {
    CHECK(both("all", "^self") == "^self");
    CHECK(both("tcp", "^self") == "tcp");
    CHECK(both("^self", "tcp,self") == "tcp");
    CHECK(both("^tcp", "^self,sm") == "^self,posix,cma,tcp");
    CHECK(both("posix,tcp", "sm") == "posix");
    CHECK(both("ib,self", "^self") == "ib");  // what does not exist is for the library to say
    CHECK(both("tcp", "sm").empty());
    CHECK(both("^all", "tcp").empty());
}

TEST_CASE("what -D and -P leave is what both allow") {
    CHECK(left_by(device_kind::all, placement::self) == "all");
    CHECK(left_by(device_kind::all, placement::intra) == "^self");
    CHECK(left_by(device_kind::all, placement::inter, "sm,tcp") == "tcp");
    CHECK(left_by(device_kind::shm, placement::intra) == "posix,cma");
    CHECK(left_by(device_kind::shm, placement::inter).empty());
    CHECK(left_by(device_kind::net, placement::self, "posix").empty());
}

TEST_CASE("a restriction names the options that make it") {
    options wanted;
    CHECK(restriction_of(wanted).by.empty());
    wanted.peer = placement::intra;
    CHECK(restriction_of(wanted).by == "-P intra");
    wanted.kinds = device_kind::net;
    CHECK(restriction_of(wanted).by == "-D net -P intra");
}
