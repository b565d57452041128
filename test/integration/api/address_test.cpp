// Worker addresses that somebody damaged.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

// Room behind an address, as programs have it that exchange fixed amounts.
constexpr std::size_t padded = 4096;

ucs_status_t create(const world& in, const std::vector<std::byte>& address) {
    ucp_ep_params_t how{};
    how.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    how.address = reinterpret_cast<const ucp_address_t*>(address.data());
    ucp_ep_h ep = nullptr;
    const ucs_status_t status = ucp_ep_create(in.sender, &how, &ep);
    if (status == UCS_OK) in.close(ep, true);
    return status;
}

ucs_status_t query(std::vector<std::byte>& address) {
    ucp_worker_address_attr_t attr{UCP_WORKER_ADDRESS_ATTR_FIELD_UID, 0};
    return ucp_worker_address_query(reinterpret_cast<ucp_address_t*>(address.data()), &attr);
}

}  // namespace

TEST_CASE("an address with any one bit turned is refused") {
    const world in;
    auto address = address_of(in.receiver);
    const std::size_t length = address.size();
    address.resize(padded);
    std::size_t taken = 0;
    captured_output log;
    for (std::size_t bit = 0; bit < length * 8; ++bit) {
        const auto turn = static_cast<std::byte>(1U << (bit % 8));
        address[bit / 8] ^= turn;
        taken += query(address) == UCS_OK ? 1U : 0U;
        taken += create(in, address) == UCS_OK ? 1U : 0U;
        address[bit / 8] ^= turn;
    }
    const std::string text = log.text();
    CHECK(taken == 0);
    CHECK(text.find("address") != std::string::npos);
    CHECK(create(in, address) == UCS_OK);
}

TEST_CASE("an address that was cut anywhere is refused") {
    const world in;
    const auto whole = address_of(in.receiver);
    std::size_t taken = 0;
    captured_output log;
    for (std::size_t length = 0; length < whole.size(); ++length) {
        // An address may end in zeros, which padding restores.
        if (std::all_of(whole.begin() + static_cast<std::ptrdiff_t>(length), whole.end(),
                        [](std::byte each) { return each == std::byte{0}; })) {
            continue;
        }
        std::vector<std::byte> cut(whole.begin(),
                                   whole.begin() + static_cast<std::ptrdiff_t>(length));
        cut.resize(padded);
        taken += query(cut) == UCS_OK ? 1U : 0U;
        taken += create(in, cut) == UCS_OK ? 1U : 0U;
    }
    log.text();
    CHECK(taken == 0);
}

TEST_CASE("an address is not read behind its end") {
    const world in;
    const auto address = address_of(in.receiver);
    const guarded_memory memory(address.size());
    std::memcpy(memory.get(), address.data(), address.size());
    ucp_ep_params_t how{};
    how.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    how.address = static_cast<const ucp_address_t*>(memory.get());
    ucp_ep_h ep = nullptr;
    CHECK(ucp_ep_create(in.sender, &how, &ep) == UCS_OK);
    in.close(ep);
}

TEST_CASE("noise is no address") {
    const world in;
    std::size_t taken = 0;
    captured_output log;
    const auto address = address_of(in.receiver);
    auto noise = pattern(1 << 17, 1);  // more than any length field can ask for
    for (unsigned seed = 0; seed < 1000; ++seed) {
        const auto start = pattern(256, seed);
        std::copy(start.begin(), start.end(), noise.begin());
        if (seed % 2 == 0) std::copy_n(address.begin(), 8, noise.begin());
        taken += query(noise) == UCS_OK ? 1U : 0U;
        taken += create(in, noise) == UCS_OK ? 1U : 0U;
    }
    log.text();
    CHECK(taken == 0);
}
