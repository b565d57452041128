#include "uct/ib/base/memory/memory_key.hpp"

#include <cstring>
#include <type_traits>

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
static_assert(sizeof(packed) == memory_key::size &&
              std::has_unique_object_representations_v<packed>);

}  // namespace

void memory_key::pack(std::span<std::byte> into) const noexcept {
    const packed made{base, length, number, version, static_cast<std::uint8_t>(allowed), 0};
    std::memcpy(into.data(), &made, sizeof made);
}

std::optional<memory_key> memory_key::parse(std::span<const std::byte> from) noexcept {
    packed read;
    if (from.size() != sizeof read) return std::nullopt;
    std::memcpy(&read, from.data(), sizeof read);
    const bool good = read.version == version && read.access <= 1 && read.pad == 0 &&
                      read.base + read.length >= read.base;
    if (!good) return std::nullopt;
    return memory_key{read.base, read.length, read.number, static_cast<memory_access>(read.access)};
}

}  // namespace uct::ib
