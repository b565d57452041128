#include "uct/sm/posix/wire.hpp"

#include <fmt/format.h>

#include <cstring>

namespace uct::posix {
namespace {

template<class Packet>
parsed<Packet> parse(std::span<const std::byte> from, const char* name) {
    Packet read;
    const packet_kind wanted = read.header.kind;
    if (from.size() < sizeof(packet_header)) return {{}, "it said nothing of this transport"};
    std::memcpy(&read.header, from.data(), sizeof read.header);
    if (read.header.magic != wire_magic) return {{}, "it said nothing of this transport"};
    if (read.header.version != wire_version) {
        return {{},
                fmt::format("it speaks version {} and this library speaks version {}",
                            read.header.version, wire_version)};
    }
    if (read.header.kind != wanted) {
        return {{},
                fmt::format("it sent a packet of kind {} instead of a {}",
                            static_cast<unsigned>(read.header.kind), name)};
    }
    if (from.size() != sizeof read) {
        return {{},
                fmt::format("its {} has {} bytes instead of {}", name, from.size(), sizeof read)};
    }
    std::memcpy(&read, from.data(), sizeof read);
    return {read, {}};
}

// Parses a packet that consists of a header only.
std::optional<packet_kind> plain_kind(std::span<const std::byte> from) {
    packet_header said;
    if (from.size() != sizeof said) return std::nullopt;
    std::memcpy(&said, from.data(), sizeof said);
    if (said.magic != wire_magic || said.version != wire_version) return std::nullopt;
    return said.kind;
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
