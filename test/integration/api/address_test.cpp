// Damaged worker addresses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

// Length of a padded address, for programs that exchange a fixed number of bytes.
constexpr std::size_t padded = 4096;

ucs_status_t create(const world& in, const std::vector<std::byte>& address) {
    const ucp_ep_params_t options = ep_params_for(address.data());
    ucp_ep_h ep = nullptr;
    const ucs_status_t status = ucp_ep_create(in.sender, &options, &ep);
    if (status == UCS_OK) in.close(ep, true);
    return status;
}

ucs_status_t query(std::vector<std::byte>& address) {
    ucp_worker_address_attr_t attr{UCP_WORKER_ADDRESS_ATTR_FIELD_UID, 0};
    return ucp_worker_address_query(reinterpret_cast<ucp_address_t*>(address.data()), &attr);
}

// Returns in how many of two ways the library accepts the address.
std::size_t acceptances(const world& in, std::vector<std::byte>& address) {
    return (query(address) == UCS_OK ? 1U : 0U) + (create(in, address) == UCS_OK ? 1U : 0U);
}

}  // namespace

TEST_CASE("an address with one flipped bit is refused") {
    const world in;
    auto address = address_of(in.receiver);
    const std::size_t length = address.size();
    address.resize(padded);
    std::size_t accepted = 0;
    captured_output log;
    for (std::size_t bit = 0; bit < length * 8; ++bit) {
        const auto mask = static_cast<std::byte>(1U << (bit % 8));
        address[bit / 8] ^= mask;
        accepted += acceptances(in, address);
        address[bit / 8] ^= mask;
    }
    const std::string text = log.text();
    CHECK(accepted == 0);
    CHECK(text.find("address") != std::string::npos);
    CHECK(create(in, address) == UCS_OK);
}

TEST_CASE("a truncated address is refused") {
    const world in;
    const auto complete = address_of(in.receiver);
    std::size_t accepted = 0;
    captured_output log;
    for (std::size_t length = 0; length < complete.size(); ++length) {
        // An address may end in zeros, which padding restores.
        if (std::all_of(complete.begin() + static_cast<std::ptrdiff_t>(length), complete.end(),
                        [](std::byte each) { return each == std::byte{0}; })) {
            continue;
        }
        std::vector<std::byte> cut(complete.begin(),
                                   complete.begin() + static_cast<std::ptrdiff_t>(length));
        cut.resize(padded);
        accepted += acceptances(in, cut);
    }
    log.text();
    CHECK(accepted == 0);
}

TEST_CASE("an address is not read beyond its end") {
    const world in;
    const auto address = address_of(in.receiver);
    const guarded_memory memory(address.size());
    std::memcpy(memory.get(), address.data(), address.size());
    in.close(create_ep(in.sender, ep_params_for(memory.get())));
}

TEST_CASE("random bytes are refused as an address") {
    const world in;
    std::size_t accepted = 0;
    captured_output log;
    const auto address = address_of(in.receiver);
    auto noise = pattern(1 << 17, 1);  // longer than any length field can claim
    for (unsigned seed = 0; seed < 1000; ++seed) {
        const auto start = pattern(256, seed);
        std::copy(start.begin(), start.end(), noise.begin());
        if (seed % 2 == 0) std::copy_n(address.begin(), 8, noise.begin());
        accepted += acceptances(in, noise);
    }
    log.text();
    CHECK(accepted == 0);
}
