#include "ucp/mem/key.hpp"

#include <cstring>

#include "uct/sm/memory/owners_base.hpp"
#include "uct/sm/memory/packed_name.hpp"

namespace ucp::mem {
namespace {

// Writes fields one after the other; the layout has no gaps.
class writer {
public:
    explicit writer(std::byte* into) noexcept : position_(into) {}
    template<class Field>
    writer& put(const Field& value) noexcept {
        std::memcpy(position_, &value, sizeof value);
        position_ += sizeof value;
        return *this;
    }

    writer& put_bytes(const std::vector<std::byte>& bytes) noexcept {
        std::memcpy(position_, bytes.data(), bytes.size());
        position_ += bytes.size();
        return *this;
    }

private:
    std::byte* position_;
};

class reader {
public:
    explicit reader(const std::byte* from) noexcept : position_(from) {}
    template<class Field>
    reader& get(Field& value) noexcept {
        std::memcpy(&value, position_, sizeof value);
        position_ += sizeof value;
        return *this;
    }

private:
    const std::byte* position_;
};

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

bool read_devices(std::span<const std::byte> rest, std::vector<device_key>& into) {
    std::size_t count = std::to_integer<std::size_t>(rest.front());
    rest = rest.subspan(1);
    if (count == 0) return false;
    for (; count > 0; --count) {
        if (rest.size() < 2) return false;
        const auto device = std::to_integer<std::uint8_t>(rest[0]);
        const auto length = std::to_integer<std::size_t>(rest[1]);
        rest = rest.subspan(2);
        if (length == 0 || length > rest.size()) return false;
        into.push_back(
            {device, {rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length)}});
        rest = rest.subspan(length);
    }
    return rest.empty();
}

}  // namespace

packed_key pack(const key& from) noexcept {
    packed_key made;
    const bool block = !from.block.empty();
    made.length = block ? wire::block_length : wire::plain_length;
    const std::size_t devices = count_fitting(from.devices, made.length);
    unsigned flags = block ? wire::has_block : 0;
    if (from.exported) flags |= wire::exported;
    if (!from.devices.empty()) flags |= wire::has_devices;
    writer out(made.bytes.data());
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
    for (const device_key& each : std::span(from.devices).first(devices)) {
        out.put(each.device)
            .put(static_cast<std::uint8_t>(each.bytes.size()))
            .put_bytes(each.bytes);
    }
    return made;
}

std::size_t packed_length(const std::byte* packed) noexcept {
    const auto length = std::to_integer<std::size_t>(packed[0]);
    return length >= wire::plain_length && length <= wire::longest ? length : 0;
}

std::optional<key> parse_key(std::span<const std::byte> from) {
    if (from.empty() || packed_length(from.data()) != from.size()) return std::nullopt;
    std::uint8_t length = 0, version = 0, flags = 0;
    key read;
    reader in(from.data());
    in.get(length).get(version).get(flags).get(read.allowed);
    const bool block = (flags & wire::has_block) != 0;
    const bool devices = (flags & wire::has_devices) != 0;
    const std::size_t fixed = block ? wire::block_length : wire::plain_length;
    if (version != wire::version || (flags & ~wire::known_flags) != 0 || length < fixed ||
        devices == (length == fixed)) {
        return std::nullopt;
    }
    read.exported = (flags & wire::exported) != 0;
    in.get(read.owner.id).get(read.owner.secret).get(read.base).get(read.length);
    if (block) {
        uct::sm::packed_name name;
        in.get(name);
        read.block = uct::sm::unpack(name);
        if (read.block.empty()) return std::nullopt;
    }
    if (devices && !read_devices(from.subspan(fixed), read.devices)) return std::nullopt;
    if (!is_possible(read)) return std::nullopt;
    return read;
}

}  // namespace ucp::mem
