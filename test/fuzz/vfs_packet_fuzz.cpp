// Any bytes as a packet between ucx_vfs and a process: first as they come, then behind a right
// header, of a kind that the first byte chooses.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "ucs/vfs/wire.hpp"

namespace wire = ucs::vfs::wire;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void parse(std::span<const std::byte> bytes) {
    // Memory of exactly that size, so that a sanitizer sees any byte read behind it.
    const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), exact.get());
    const auto said = wire::parse({exact.get(), bytes.size()});
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
    const wire::header head{wire::magic, wire::version, static_cast<std::uint16_t>(data[0] % 6)};
    std::vector<std::byte> headed(sizeof head);
    std::memcpy(headed.data(), &head, sizeof head);
    headed.insert(headed.end(), bytes.begin() + 1, bytes.end());
    parse(headed);
    return 0;
}
