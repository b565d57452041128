// Tests of the header of connection messages, byte by byte.
#include "ucp/wireup/wire.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <span>

using namespace ucp::wire;

namespace {

using header_bytes = std::array<std::uint8_t, sizeof(wireup_header)>;

constexpr std::array<std::uint8_t, 8> request_with_order{1, 7, 6, 5, 4, 3, 2, 1};
constexpr std::array<std::uint8_t, 8> bind_with_token{5, 7, 6, 5, 4, 3, 2, 1};
constexpr std::array<std::uint8_t, 8> refuse_with_reason{4, 1, 0, 0, 0, 0, 0, 0};

// A header whose fields behind the first 8 bytes are not 0.
wireup_header header_of(wireup_type type) {
    return {type, {}, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
}

void check_begins_with(const wireup_header& header, const std::array<std::uint8_t, 8>& wanted) {
    const auto bytes = std::bit_cast<header_bytes>(header);
    CHECK(std::ranges::equal(std::span(bytes).first<8>(), wanted));
    CHECK(header.uid == ~std::uint64_t{0});
}

}  // namespace

TEST_CASE("a request has its order behind the type, lowest byte first") {
    wireup_header request = header_of(wireup_type::request);
    request.set_order(0x01020304050607);
    CHECK(request.order() == 0x01020304050607);
    check_begins_with(request, request_with_order);
}

TEST_CASE("a bind has its token behind the type, lowest byte first") {
    wireup_header bind = header_of(wireup_type::bind);
    bind.set_token(0x01020304050607);
    CHECK(bind.token() == 0x01020304050607);
    check_begins_with(bind, bind_with_token);
}

TEST_CASE("a refusal has its reason behind the type") {
    wireup_header refusal = header_of(wireup_type::refuse);
    CHECK(refusal.reason() == end_reason::unspecified);
    refusal.set_reason(end_reason::too_many);
    CHECK(refusal.reason() == end_reason::too_many);
    check_begins_with(refusal, refuse_with_reason);
}

TEST_CASE("an order or a token of more than 56 bits reaches no other field") {
    wireup_header request = header_of(wireup_type::request);
    request.set_order(~std::uint64_t{0});
    CHECK(request.type == wireup_type::request);
    CHECK(request.uid == ~std::uint64_t{0});
    CHECK(request.order() == (std::uint64_t{1} << 56U) - 1);
}
