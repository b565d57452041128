#include "ucp/mem/key.hpp"

#include "ucs/wire/codec.hpp"
#include "uct/sm/memory/mapped_memory.hpp"
#include "uct/sm/memory/packed_name.hpp"

namespace ucp::mem {
namespace {

static_assert(wire::block_length == wire::plain_length + uct::sm::packed_name_size);

bool is_possible(const key& read) noexcept {
    const bool wraps = read.base + read.length < read.base;
    const bool aligned = read.block.empty() || uct::sm::is_possible_base(read.base);
    return read.owner.id != 0 && !wraps && aligned && (read.allowed & ~all_access) == 0;
}

// Returns how many of the device keys fit, and adds their length.
std::size_t count_fitting(const std::vector<device_key>& devices, std::size_t& length) noexcept {
    std::size_t count = 0;
    if (!devices.empty()) ++length;
    for (const device_key& each : devices) {
        const std::size_t more = 2 + each.bytes.size();
        if (length + more > wire::longest) break;
        length += more;
        ++count;
    }
    return count;
}

bool read_devices(ucs::wire::reader in, std::vector<device_key>& into) {
    const std::size_t count = in.get<std::uint8_t>();
    if (count == 0) return false;
    for (std::size_t i = 0; i < count; ++i) {
        const auto device = in.get<std::uint8_t>();
        const auto bytes = in.bytes8();
        if (bytes.empty()) return false;
        into.push_back({device, {bytes.begin(), bytes.end()}});
    }
    return in.is_complete();
}

}  // namespace

packed_key pack(const key& from) noexcept {
    packed_key made;
    const bool block = !from.block.empty();
    made.length = block ? wire::block_length : wire::plain_length;
    const std::size_t devices = count_fitting(from.devices, made.length);
    unsigned flags = block ? wire::has_block : 0;
    if (from.exported) flags |= wire::exported;
    if (from.on_device) flags |= wire::on_device;
    if (!from.devices.empty()) flags |= wire::has_devices;
    ucs::wire::writer out(made.bytes);
    out.put(static_cast<std::uint8_t>(made.length))
        .put(wire::version)
        .put(static_cast<std::uint8_t>(flags))
        .put(from.allowed)
        .put(from.owner.id)
        .put(from.owner.secret)
        .put(from.base)
        .put(from.length);
    if (block) out.put(uct::sm::pack(from.block));
    if (from.devices.empty()) return made;
    out.put(static_cast<std::uint8_t>(devices));
    for (const device_key& each : std::span(from.devices).first(devices))
        out.put(each.device).put_bytes8(each.bytes);
    return made;
}

std::size_t packed_length(const std::byte* packed) noexcept {
    const auto length = std::to_integer<std::size_t>(packed[0]);
    return length >= wire::plain_length && length <= wire::longest ? length : 0;
}

std::optional<key> parse_key(std::span<const std::byte> from) {
    if (from.empty() || packed_length(from.data()) != from.size()) return std::nullopt;
    ucs::wire::reader in(from);
    const auto length = in.get<std::uint8_t>();
    const auto version = in.get<std::uint8_t>();
    const auto flags = in.get<std::uint8_t>();
    key read;
    read.allowed = in.get<std::uint8_t>();
    const bool block = (flags & wire::has_block) != 0;
    const bool devices = (flags & wire::has_devices) != 0;
    const std::size_t fixed = block ? wire::block_length : wire::plain_length;
    if (version != wire::version || (flags & ~wire::known_flags) != 0 || length < fixed ||
        devices == (length == fixed)) {
        return std::nullopt;
    }
    read.exported = (flags & wire::exported) != 0;
    read.on_device = (flags & wire::on_device) != 0;
    read.owner = {in.get<std::uint64_t>(), in.get<std::uint64_t>()};
    read.base = in.get<std::uint64_t>();
    read.length = in.get<std::uint64_t>();
    if (block) {
        read.block = uct::sm::unpack(in.get<uct::sm::packed_name>());
        if (read.block.empty()) return std::nullopt;
    }
    if (devices && !read_devices(in, read.devices)) return std::nullopt;
    if (!is_possible(read)) return std::nullopt;
    return read;
}

}  // namespace ucp::mem
