#include "uct/cuda/ipc/key.hpp"

#include "ucs/wire/codec.hpp"

namespace uct::cuda {
namespace {

constexpr std::uint8_t version = 1;

}  // namespace

handle_bytes export_name::pack() const noexcept {
    handle_bytes packed{};
    ucs::wire::writer(packed).put(socket_id).put(number).put(secret);
    return packed;
}

export_name export_name::unpack(const handle_bytes& from) noexcept {
    ucs::wire::reader fields(from);
    export_name read;
    read.socket_id = fields.get<std::uint64_t>();
    read.number = fields.get<std::uint64_t>();
    read.secret = fields.get<export_secret>();
    return read;
}

std::vector<std::byte> ipc_key::pack() const {
    std::vector<std::byte> packed(size);
    ucs::wire::writer(packed)
        .put(base)
        .put(base_length)
        .put(offset)
        .put(length)
        .put(buffer_id)
        .put(owner)
        .put(device)
        .put(handle)
        .put(version)
        .put(type)
        .put(allowed)
        .put(std::uint8_t{0});
    return packed;
}

std::optional<ipc_key> ipc_key::parse(std::span<const std::byte> from) noexcept {
    ucs::wire::reader fields(from);
    ipc_key read;
    read.base = fields.get<std::uint64_t>();
    read.base_length = fields.get<std::uint64_t>();
    read.offset = fields.get<std::uint64_t>();
    read.length = fields.get<std::uint64_t>();
    read.buffer_id = fields.get<std::uint64_t>();
    read.owner = fields.get<std::uint64_t>();
    read.device = fields.get<std::uint64_t>();
    read.handle = fields.get<handle_bytes>();
    const auto found_version = fields.get<std::uint8_t>();
    const auto type = fields.get<std::uint8_t>();
    const auto access = fields.get<std::uint8_t>();
    const auto zero = fields.get<std::uint8_t>();
    const bool is_good =
        fields.is_complete() && found_version == version && type <= 1 && access <= 1 && zero == 0 &&
        read.owner != 0 && read.base + read.base_length >= read.base &&
        read.offset <= read.base_length && read.length <= read.base_length - read.offset;
    if (!is_good) return std::nullopt;
    read.type = static_cast<kind>(type);
    read.allowed = static_cast<memory_access>(access);
    return read;
}

}  // namespace uct::cuda
