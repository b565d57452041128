#include "uct/ib/base/memory/memory_key.hpp"

#include "ucs/wire/codec.hpp"

namespace uct::ib {
namespace {

constexpr std::uint8_t version = 1;

struct packed {
    std::uint64_t base;
    std::uint64_t length;
    std::uint32_t number;
    std::uint8_t version;
    std::uint8_t access;
    std::uint16_t pad;
};
static_assert(sizeof(packed) == memory_key::size);

}  // namespace

void memory_key::pack(std::span<std::byte> into) const noexcept {
    ucs::wire::writer(into).put(
        packed{base, length, number, version, static_cast<std::uint8_t>(allowed), 0});
}

std::optional<memory_key> memory_key::parse(std::span<const std::byte> from) noexcept {
    const auto packed_form = ucs::wire::read<packed>(from);
    if (!packed_form) return std::nullopt;
    const packed& read = *packed_form;
    const bool good = read.version == version && read.access <= 1 && read.pad == 0 &&
                      read.base + read.length >= read.base;
    if (!good) return std::nullopt;
    return memory_key{read.base, read.length, read.number, static_cast<memory_access>(read.access)};
}

}  // namespace uct::ib
