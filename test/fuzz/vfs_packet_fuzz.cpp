// Any bytes as a packet between ucx_vfs and a process: first as they come, then behind a right
// header, of a kind that the first byte chooses.
#include <vector>

#include "test/fuzz/program.hpp"
#include "ucs/vfs/wire.hpp"
#include "ucs/wire/codec.hpp"

namespace wire = ucs::vfs::wire;

using fuzz::require;

namespace {

void parse(std::span<const std::byte> bytes) {
    const fuzz::exact_copy exact(bytes);
    const auto said = wire::parse(exact.bytes());
    if (!said) return;
    require(said->type >= wire::kind::ready && said->type <= wire::kind::stop);
    // A byte that is not printed as it is takes four characters, as \xNN.
    const std::size_t length = bytes.size() - sizeof(wire::header);
    require(length <= wire::longest_text);
    require(said->text.size() >= length && said->text.size() <= 4 * length);
    require(std::none_of(said->text.begin(), said->text.end(), [](unsigned char each) {
        return (each < 0x20 && each != '\t') || each == 0x7f;
    }));
    require(!said->descriptor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    parse(bytes);
    if (size == 0) return 0;
    std::vector<std::byte> headed(sizeof(wire::header) + size - 1);
    ucs::wire::writer(headed)
        .put(wire::header{wire::magic, wire::version, static_cast<std::uint16_t>(data[0] % 6)})
        .put_bytes(bytes.subspan(1));
    parse(headed);
    return 0;
}
