// Feeds arbitrary bytes to the parser of worker addresses. The first input byte chooses whether
// header check and checksum are corrected, so that the fuzzer reaches the code behind them.
#include <vector>

#include "test/fuzz/program.hpp"
#include "test/fuzz/silence.hpp"
#include "ucp/address/address.hpp"
#include "ucp/address/wire.hpp"
#include "ucs/wire/codec.hpp"

namespace {

using fuzz::require;
namespace address = ucp::address;
namespace wire = ucp::address::wire;

void seal(std::vector<std::byte>& packed) {
    if (packed.size() < wire::header_size || packed.size() > address::max_packed_size) return;
    ucs::wire::writer(packed)
        .put(wire::magic)
        .put(wire::version)
        .put(std::uint8_t{0})
        .put(static_cast<std::uint16_t>(packed.size()));
    packed[wire::check_at] = std::byte{wire::header_check(packed)};
    ucs::wire::writer(std::span(packed).subspan(wire::crc_at)).put(wire::checksum(packed));
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
    const auto input = std::as_bytes(std::span(data + 1, size - 1));
    std::vector<std::byte> packed(input.begin(), input.end());
    if (data[0] % 4 != 0) seal(packed);

    const auto bounded = address::parse(packed);
    if (bounded.ok()) check_round_trip(*bounded);

    // The function without a length may read up to the largest size.
    packed.resize(std::max(packed.size(), address::max_packed_size));
    const auto open = address::parse(packed.data());
    require(!bounded.ok() || (open.ok() && *open == *bounded));
    return 0;
}
