// Feeds arbitrary bytes to the parser of packed keys, and looks up keys that it accepts.

#include "test/fuzz/program.hpp"
#include "test/fuzz/silence.hpp"
#include "ucp/mem/map.hpp"

using fuzz::require;
using namespace ucp::mem;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::silence quiet;
    if (size == 0) return 0;
    const fuzz::exact_copy copy(std::as_bytes(std::span(data, size)));
    const std::span<std::byte> exact = copy.bytes();
    if (size >= wire::plain_length && data[size - 1] % 4 != 0) {
        // With its own length, or embedded in a block.
        const std::size_t most = std::min(size, wire::longest);
        exact[0] = static_cast<std::byte>(
            data[size - 1] % 4 == 1 ? most : std::min(most, wire::block_length));
        exact[1] = static_cast<std::byte>(wire::version);
    }
    const std::size_t length = packed_length(exact.data());
    if (length == 0 || length > size) return 0;

    const auto known = parse_key(exact.first(length));
    memory_table table;
    const auto made = unpack(table, exact.data());
    require(made.ok() == (known && !known->exported));
    if (!known) return 0;
    const packed_key again = pack(*known);
    require(again.length == length &&
            std::equal(exact.data(), exact.data() + length, again.bytes.begin()));
    // Nothing is mapped, so nothing can be accessed.
    require(!made.ok() || (!(*made)->is_mapped() && (*made)->readable(known->base, 1) == nullptr));
    return 0;
}
