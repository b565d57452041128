#include "ucp/cm/wire.hpp"

#include "uct/tcp/bytes.hpp"

namespace ucp::cm::wire {

namespace {

using uct::tcp::field_reader;
using uct::tcp::field_writer;

constexpr std::size_t fixed_body = 32;
constexpr std::uint64_t token_limit = std::uint64_t{1} << 56;

bool known(kind value) noexcept {
    return value == kind::request || value == kind::refusal || value == kind::established;
}

}  // namespace

std::array<std::byte, header_size> header::pack() const noexcept {
    std::array<std::byte, header_size> bytes;
    field_writer(bytes)
        .put(magic)
        .put(version)
        .put(static_cast<std::uint8_t>(kind))
        .put(flags)
        .put(length)
        .put(static_cast<std::uint32_t>(reason));
    return bytes;
}

header_answer parse_header(std::span<const std::byte, header_size> from) noexcept {
    field_reader fields(from);
    if (fields.get<std::uint32_t>() != magic) return {{}, "sent no message of this protocol"};
    header read;
    read.version = fields.get<std::uint16_t>();
    if (read.version != version) {
        return {{}, "speaks another version", reason::other_version};
    }
    read.kind = static_cast<wire::kind>(fields.get<std::uint8_t>());
    read.flags = fields.get<std::uint8_t>();
    read.length = fields.get<std::uint32_t>();
    read.reason = static_cast<wire::reason>(fields.get<std::uint32_t>());
    if (!known(read.kind)) return {{}, "sent a message of unknown kind"};
    if (read.length > max_body) return {{}, "sent too long a message"};
    if (read.kind != kind::request && read.length != 0) {
        return {{}, "sent a body where none belongs"};
    }
    return {read, nullptr};
}

std::vector<std::byte> request::pack() const {
    std::vector<std::byte> frame(header_size + fixed_body + address.size());
    header about;
    about.flags = shows_client_id ? has_client_id : 0;
    about.length = static_cast<std::uint32_t>(fixed_body + address.size());
    field_writer(frame)
        .put_bytes(about.pack())
        .put(uid)
        .put(ep)
        .put(token)
        .put(client_id)
        .put_bytes(address);
    return frame;
}

std::optional<request> parse_request(const header& header, std::span<const std::byte> body) {
    field_reader fields(body);
    request read;
    read.uid = fields.get<std::uint64_t>();
    read.ep = fields.get<std::uint64_t>();
    read.token = fields.get<std::uint64_t>();
    read.client_id = fields.get<std::uint64_t>();
    read.shows_client_id = (header.flags & request::has_client_id) != 0;
    const bool sane = header.kind == kind::request && header.reason == reason::none &&
                      (header.flags & ~request::has_client_id) == 0 && fields.ok() &&
                      !fields.at_end();
    if (!sane || read.uid == 0 || read.ep == 0 || read.token >= token_limit) return std::nullopt;
    const auto address = fields.take(body.size() - fixed_body);
    read.address.assign(address.begin(), address.end());
    return read;
}

}  // namespace ucp::cm::wire
