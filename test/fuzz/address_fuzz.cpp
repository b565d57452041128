// Feeds arbitrary bytes to the parser of worker addresses. The first input byte chooses whether
// header check and checksum are corrected, so that the fuzzer reaches the code behind them.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "test/fuzz/silence.hpp"
#include "ucp/address/address.hpp"
#include "ucp/address/wire.hpp"

namespace {

namespace address = ucp::address;
namespace wire = ucp::address::wire;

void seal(std::vector<std::byte>& packed) {
    if (packed.size() < wire::header_size || packed.size() > address::max_packed_size) return;
    packed[0] = std::byte{wire::magic[0]};
    packed[1] = std::byte{wire::magic[1]};
    packed[wire::version_at] = std::byte{wire::version};
    packed[wire::length_at] = static_cast<std::byte>(packed.size() & 0xff);
    packed[wire::length_at + 1] = static_cast<std::byte>(packed.size() >> 8);
    packed[wire::check_at] = std::byte{wire::header_check(packed)};
    const std::uint32_t crc = wire::checksum(packed);
    for (std::size_t i = 0; i < 4; ++i)
        packed[wire::crc_at + i] = static_cast<std::byte>(crc >> (8 * i) & 0xff);
}

void require(bool holds) {
    if (!holds) std::abort();
}

// An accepted address must survive packing and parsing.
void check_round_trip(const address::worker_address& parsed) {
    const std::vector<std::byte> packed = address::pack(parsed, false);
    require(packed.size() <= address::max_packed_size);
    const auto again = address::parse(packed);
    require(again.ok());
    require(*again == parsed || again->entries.size() < parsed.entries.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::silence quiet;
    if (size == 0) return 0;
    std::vector<std::byte> packed(size - 1);
    std::transform(data + 1, data + size, packed.begin(),
                   [](std::uint8_t byte) { return std::byte{byte}; });
    if (data[0] % 4 != 0) seal(packed);

    const auto bounded = address::parse(packed);
    if (bounded.ok()) check_round_trip(*bounded);

    // The function without a length may read up to the largest size.
    packed.resize(std::max(packed.size(), address::max_packed_size));
    const auto open = address::parse(packed.data());
    require(!bounded.ok() || (open.ok() && *open == *bounded));
    return 0;
}
