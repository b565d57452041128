#include "uct/sm/posix/wire.hpp"

#include <fmt/format.h>

#include "ucs/wire/codec.hpp"

namespace uct::posix {
namespace {

template<class Packet>
parsed<Packet> parse(std::span<const std::byte> from, const char* name) {
    const packet_kind wanted = Packet{}.header.kind;
    const auto header = ucs::wire::reader(from).get<packet_header>();
    if (header.magic != wire_magic) return {{}, "it said nothing of this transport"};
    if (header.version != wire_version) {
        return {{},
                fmt::format("it speaks version {} and this library speaks version {}",
                            header.version, wire_version)};
    }
    if (header.kind != wanted) {
        return {{},
                fmt::format("it sent a packet of kind {} instead of a {}",
                            static_cast<unsigned>(header.kind), name)};
    }
    if (from.size() != sizeof(Packet)) {
        return {
            {},
            fmt::format("its {} has {} bytes instead of {}", name, from.size(), sizeof(Packet))};
    }
    return {ucs::wire::read<Packet>(from), {}};
}

// Parses a packet that consists of a header only.
std::optional<packet_kind> plain_kind(std::span<const std::byte> from) {
    const auto header = ucs::wire::read<packet_header>(from);
    if (!header || header->magic != wire_magic || header->version != wire_version)
        return std::nullopt;
    return header->kind;
}

}  // namespace

parsed<challenge> parse_challenge(std::span<const std::byte> from) {
    return parse<challenge>(from, "challenge");
}

parsed<reply> parse_reply(std::span<const std::byte> from) {
    return parse<reply>(from, "reply");
}

parsed<hello> parse_hello(std::span<const std::byte> from) {
    auto read = parse<hello>(from, "hello");
    if (!read.value) return read;
    const hello& said = *read.value;
    if (!said.geometry().valid() || said.segment_size != said.geometry().segment_size()) {
        return {{},
                fmt::format("it offers an impossible ring: {} slots, {} bulk bytes, messages "
                            "of up to {} bytes in a segment of {} bytes",
                            said.slots, said.bulk_size, said.max_message, said.segment_size)};
    }
    return read;
}

std::optional<packet_kind> parse_goodbye(std::span<const std::byte> from) {
    const auto kind = plain_kind(from);
    if (kind == packet_kind::closing || kind == packet_kind::refused ||
        kind == packet_kind::corrupted) {
        return kind;
    }
    return std::nullopt;
}

bool is_wake_up_call(std::span<const std::byte> from) {
    return plain_kind(from) == packet_kind::wake_up_call;
}

}  // namespace uct::posix
