// Addresses of peers that claim a wrong length.
#include "ucp/address/padded.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace ucp::address;

namespace {

std::span<const std::byte> all_bytes(const padded& address) {
    return {reinterpret_cast<const std::byte*>(address.get()), max_packed_size};
}

bool are_zeros(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

}  // namespace

TEST_CASE("zeros follow a short address up to the longest one", "[ucp][address]") {
    const std::vector<std::byte> sent(40, std::byte{0xff});
    const padded address(sent);
    CHECK(std::ranges::equal(all_bytes(address).first(sent.size()), sent));
    CHECK(are_zeros(all_bytes(address).subspan(sent.size())));
}

TEST_CASE("bytes behind the longest valid address are dropped", "[ucp][address]") {
    const std::vector<std::byte> sent(max_packed_size + 1, std::byte{0xff});
    const padded address(sent);
    CHECK(std::ranges::equal(all_bytes(address), std::span(sent).first(max_packed_size)));
}

TEST_CASE("an empty address becomes zeros", "[ucp][address]") {
    const padded address({});
    CHECK(are_zeros(all_bytes(address)));
}
