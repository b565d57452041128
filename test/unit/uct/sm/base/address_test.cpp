#include "uct/sm/base/address.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace uct::sm;

namespace {

template<class Address>
std::vector<std::byte> bytes_of(const Address& address) {
    const auto view = std::as_bytes(std::span(&address, 1));
    return {view.begin(), view.end()};
}

posix_address good_posix() {
    return {.pid = 10, .host = 20, .socket_id = 30};
}

cma_address good_cma() {
    return {.pid = 10, .host = 20, .cookie_at = 30};
}

}  // namespace

TEST_CASE("sm addresses: what was packed is read back", "[sm]") {
    REQUIRE(parse_posix_address(bytes_of(good_posix())));
    CHECK(parse_posix_address(bytes_of(good_posix()))->socket_id == 30);
    REQUIRE(parse_cma_address(bytes_of(good_cma())));
    CHECK(parse_cma_address(bytes_of(good_cma()))->cookie_at == 30);
}

TEST_CASE("sm addresses: wrong length, version, padding and process ids are malformed", "[sm]") {
    auto bytes = bytes_of(good_posix());
    bytes.pop_back();
    CHECK_FALSE(parse_posix_address(bytes));
    CHECK_FALSE(parse_posix_address({}));

    posix_address posix = good_posix();
    SECTION("version") {
        posix.version = 1;
    }
    SECTION("padding") {
        posix.zero[1] = 1;
    }
    SECTION("unknown flag") {
        posix.flags = 2;
    }
    SECTION("process id 0 would mean the reader itself") {
        posix.pid = 0;
    }
    SECTION("negative process id would mean a group") {
        posix.pid = 0xffffffff;
    }
    SECTION("no host") {
        posix.host = 0;
    }
    CHECK_FALSE(parse_posix_address(bytes_of(posix)));
}

TEST_CASE("sm addresses: a cma address needs a cookie", "[sm]") {
    cma_address cma = good_cma();
    SECTION("no address of the cookie") {
        cma.cookie_at = 0;
    }
    SECTION("padding") {
        cma.zero_tail = 1;
    }
    CHECK_FALSE(parse_cma_address(bytes_of(cma)));
}
