// Arbitrary bytes as a key to device memory or as the address of a CUDA transport: the parsers must
// refuse them, or packing must return the same bytes. The first input byte chooses the parser.
#include <algorithm>

#include "test/fuzz/program.hpp"
#include "uct/cuda/base/address.hpp"
#include "uct/cuda/ipc/domain.hpp"

namespace {

using fuzz::require;
using namespace uct::cuda;

void parse_key(std::span<const std::byte> input) {
    const auto key = ipc_key::parse(input);
    if (!key) return;
    const std::vector<std::byte> again = key->pack();
    require(std::equal(input.begin(), input.end(), again.begin(), again.end()));
    require(key->offset + key->length <= key->base_length);
    const ipc_region region(*key, key->allowed, nullptr);
    const std::uint64_t begin = key->base + key->offset;
    require(region.covers(begin, key->length));
    require(!region.covers(begin, key->length + 1) || key->length + 1 == 0);
    require(!region.covers(begin - 1, 1));
    require(!region.covers(begin + key->length, 1));
    if (key->type == ipc_key::kind::legacy) return;
    const export_name name = export_name::unpack(key->handle);
    require(export_name::unpack(name.pack()) == name);
}

void parse_address(std::span<const std::byte> input) {
    const auto address = process_address::parse(input);
    if (!address) return;
    require(std::ranges::equal(input, std::as_bytes(std::span(&*address, 1))));
    require(address->is_same_process(*address));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const fuzz::exact_copy exact(std::as_bytes(std::span(data + 1, size - 1)));
    if (data[0] % 2 == 0)
        parse_key(exact.bytes());
    else
        parse_address(exact.bytes());
    return 0;
}
