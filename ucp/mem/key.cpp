#include "ucp/mem/key.hpp"

#include <cstring>

#include "uct/sm/memory/packed_name.hpp"

namespace ucp::mem {
namespace {

// Fields one after the other; the layout has no gaps.
class writer {
public:
    explicit writer(std::byte* into) noexcept : at_(into) {}
    template<class Field>
    writer& put(const Field& value) noexcept {
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
        return *this;
    }

private:
    std::byte* at_;
};

class reader {
public:
    explicit reader(const std::byte* from) noexcept : at_(from) {}
    template<class Field>
    reader& get(Field& value) noexcept {
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return *this;
    }

private:
    const std::byte* at_;
};

static_assert(wire::block_length == wire::plain_length + uct::sm::packed_name_size);

bool possible(const key& read) noexcept {
    const bool wraps = read.base + read.length < read.base;
    return read.owner.id != 0 && !wraps && (read.allowed & ~all_access) == 0;
}

}  // namespace

packed_key pack(const key& from) noexcept {
    packed_key made;
    const bool block = !from.block.empty();
    made.length = block ? wire::block_length : wire::plain_length;
    unsigned flags = block ? wire::has_block : 0;
    if (from.exported) flags |= wire::exported;
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
    return made;
}

std::size_t packed_length(const std::byte* packed) noexcept {
    const auto length = std::to_integer<std::size_t>(packed[0]);
    return length == wire::plain_length || length == wire::block_length ? length : 0;
}

std::optional<key> parse_key(std::span<const std::byte> from) noexcept {
    if (from.empty() || packed_length(from.data()) != from.size()) return std::nullopt;
    std::uint8_t length = 0, version = 0, flags = 0;
    key read;
    reader in(from.data());
    in.get(length).get(version).get(flags).get(read.allowed);
    const bool block = (flags & wire::has_block) != 0;
    if (version != wire::version || (flags & ~wire::known_flags) != 0 ||
        length != (block ? wire::block_length : wire::plain_length)) {
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
    if (!possible(read)) return std::nullopt;
    return read;
}

}  // namespace ucp::mem
