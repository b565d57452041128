#include "ucp/wireup/pair_wire.hpp"

#include <cassert>

#include "ucs/wire/codec.hpp"

namespace ucp::wireup {

using ucs::wire::view;

std::vector<std::byte> pack(const pair_request& from) {
    constexpr std::size_t longest_lane = 4 * 256 + 1;
    std::vector<std::byte> made(1 + from.lanes.size() * longest_lane + from.address.size());
    ucs::wire::writer out(made);
    out.put(static_cast<std::uint8_t>(from.lanes.size()));
    for (const pair_lane& each : from.lanes)
        out.put_text8(each.transport)
            .put_bytes8(each.to)
            .put_bytes8(each.from)
            .put_bytes8(each.connection)
            .put(each.device);
    out.put_bytes(from.address);
    assert(out.ok());
    made.resize(out.size());
    return made;
}

std::vector<std::byte> pack(const pair_reply& from) {
    std::vector<std::byte> made(1 + from.size() * (256 + 1));
    ucs::wire::writer out(made);
    out.put(static_cast<std::uint8_t>(from.size()));
    for (const pair_reply_lane& each : from)
        out.put_bytes8(each.connection).put(each.device);
    assert(out.ok());
    made.resize(out.size());
    return made;
}

std::optional<pair_request> parse_pair_request(view from) {
    ucs::wire::reader in(from);
    pair_request read;
    const std::size_t count = in.get<std::uint8_t>();
    if (!in.ok() || count > max_paired_lanes) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view transport = in.text8();
        const view to = in.bytes8();
        const view sender_interface = in.bytes8();
        const view connection = in.bytes8();
        read.lanes.push_back({transport, to, sender_interface, connection, in.get<std::uint8_t>()});
    }
    if (!in.ok()) return std::nullopt;
    read.address = in.rest();
    return read;
}

std::optional<pair_reply> parse_pair_reply(view from) {
    ucs::wire::reader in(from);
    const std::size_t count = in.get<std::uint8_t>();
    if (!in.ok() || count > max_paired_lanes) return std::nullopt;
    pair_reply read;
    for (std::size_t i = 0; i < count; ++i) {
        const view connection = in.bytes8();
        read.push_back({connection, in.get<std::uint8_t>()});
    }
    if (!in.is_complete()) return std::nullopt;
    return read;
}

}  // namespace ucp::wireup
