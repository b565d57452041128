// Plain values of the CUDA transports: keys, addresses, rates, and the choice of a device.
#include "test/unit/uct/cuda/support.hpp"
#include "uct/cuda/base/address.hpp"
#include "uct/cuda/base/device.hpp"
#include "uct/cuda/copy/directed_rates.hpp"
#include "uct/cuda/ipc/mapping_cache.hpp"
#include "uct/cuda/ipc/opener.hpp"

using namespace uct::cuda;

namespace {

ipc_key some_key() {
    ipc_key key;
    key.base = 0x7e9000000000;
    key.base_length = 4096;
    key.offset = 100;
    key.length = 200;
    key.buffer_id = 7;
    key.owner = 42;
    key.device = 3;
    key.handle[5] = std::byte{9};
    key.allowed = uct::memory_access::change;
    return key;
}

class no_memory final : public mapping {
public:
    explicit no_memory(int& count) : count_(count) { ++count_; }
    ~no_memory() override { --count_; }

private:
    int& count_;
};

device device_of(int ordinal, std::vector<int> peers) {
    device made;
    made.ordinal = ordinal;
    made.uuid[0] = static_cast<std::byte>(ordinal + 1);
    made.peers = std::move(peers);
    return made;
}

}  // namespace

TEST_CASE("keys keep their values, and lies about ranges are refused") {
    const ipc_key key = some_key();
    const auto packed = key.pack();
    CHECK(packed.size() == ipc_key::size);
    CHECK(*ipc_key::parse(packed) == key);
    for (unsigned lie = 0; lie < 5; ++lie) {
        ipc_key wrong = key;
        if (lie == 0) wrong.offset = 4097;
        if (lie == 1) wrong.length = 4000;
        if (lie == 2) wrong.base = ~std::uint64_t{0} - 10;
        if (lie == 3) wrong.owner = 0;
        if (lie == 4) wrong.length = ~std::uint64_t{0};
        CHECK_FALSE(ipc_key::parse(wrong.pack()));
    }
}

TEST_CASE("addresses name their process and differ between interfaces") {
    const process_address first = process_address::next();
    const process_address second = process_address::next();
    CHECK(first.is_same_process(second));
    CHECK(first.interface_number != second.interface_number);
    auto bytes = std::as_bytes(std::span(&first, 1));
    CHECK(process_address::parse(bytes));
    CHECK_FALSE(process_address::parse(bytes.first(31)));
    process_address other = first;
    other.version = 2;
    CHECK_FALSE(process_address::parse(std::as_bytes(std::span(&other, 1))));
}

TEST_CASE("rates are given for directions, or for all") {
    const auto one = directed_rates::parse("5GBs");
    REQUIRE(one);
    CHECK(one->device_to_device == one->others);
    const auto several = directed_rates::parse("default:1GBs, d2d:3GBs,H2D:2GBs");
    REQUIRE(several);
    CHECK(several->device_to_device == 3 * several->others);
    CHECK(several->host_to_device == 2 * several->others);
    CHECK(several->device_to_host == several->others);
    CHECK(directed_rates::parse(several->text()));
    for (const char* wrong :
         {"", "h2d:1GBs", "default:0", "default:-1GBs", "d2x:1GBs", "1GBs,", "default:auto", "inf"})
        CHECK_FALSE(directed_rates::parse(wrong));
}

TEST_CASE("memory is mapped for a device that the process uses, if one can access it") {
    const std::vector<device> all{device_of(0, {1}), device_of(1, {0}), device_of(2, {})};
    using order = std::vector<int>;
    CHECK(devices_to_try(all, all[1].number(), {true, true, true}) == order{1, 0});
    CHECK(devices_to_try(all, all[1].number(), {true, false, false}) == order{0, 1});
    CHECK(devices_to_try(all, all[1].number(), {false, false, true}) == order{1, 0});
    CHECK(devices_to_try(all, all[2].number(), {true, true, false}) == order{2});
    CHECK(devices_to_try(all, 999, {false, true, false}) == order{1, 0, 2});
    CHECK(devices_to_try({}, 1, {}).empty());
}

TEST_CASE("the mapping that was not used for the longest time is dropped first") {
    int live = 0;
    mapping_cache cache(2);
    std::vector<ipc_key> keys(3, some_key());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i].base += i * 0x10000;
        keys[i].buffer_id += i;
    }
    static_cast<void>(cache.add(keys[0], std::make_unique<no_memory>(live)));
    static_cast<void>(cache.add(keys[1], std::make_unique<no_memory>(live)));
    CHECK(cache.find(keys[0]) != nullptr);
    const auto used = cache.add(keys[2], std::make_unique<no_memory>(live));
    CHECK(live == 2);
    CHECK(cache.find(keys[1]) == nullptr);
    // Another handle is another mapping, whatever else agrees.
    ipc_key forged = keys[0];
    forged.handle[0] = std::byte{1};
    CHECK(cache.find(forged) == nullptr);
    // New memory in the same range replaces it.
    ipc_key fresh = keys[0];
    fresh.buffer_id = 99;
    cache.drop_outdated(fresh);
    CHECK(cache.find(keys[0]) == nullptr);
    CHECK(live == 1);
    cache.drop_unused(keys[2].owner);
    CHECK(cache.find(keys[2]) == used);
}
