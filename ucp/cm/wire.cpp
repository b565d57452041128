#include "ucp/cm/wire.hpp"

#include "ucs/wire/codec.hpp"

namespace ucp::cm::wire {

namespace {

constexpr std::size_t fixed_body = 32;
constexpr std::uint64_t token_limit = std::uint64_t{1} << 56;

bool known(kind value) noexcept {
    return value == kind::request || value == kind::refusal || value == kind::established;
}

}  // namespace

header_answer parse_header(std::span<const std::byte, header_size> from) noexcept {
    const header read = ucs::wire::reader(from).get<header>();
    if (read.magic != header().magic) return {{}, "sent no message of this protocol"};
    if (read.version != header().version) {
        return {{}, "speaks another version", reason::other_version};
    }
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
    ucs::wire::writer(frame)
        .put_bytes(about.pack())
        .put(uid)
        .put(ep)
        .put(token)
        .put(client_id)
        .put_bytes(address);
    return frame;
}

std::optional<request> parse_request(const header& header, std::span<const std::byte> body) {
    ucs::wire::reader fields(body);
    request read;
    read.uid = fields.get<std::uint64_t>();
    read.ep = fields.get<std::uint64_t>();
    read.token = fields.get<std::uint64_t>();
    read.client_id = fields.get<std::uint64_t>();
    read.shows_client_id = (header.flags & request::has_client_id) != 0;
    const bool sane = header.kind == kind::request && header.reason == reason::none &&
                      (header.flags & ~request::has_client_id) == 0 && fields.ok() &&
                      fields.left() > 0;
    if (!sane || read.uid == 0 || read.ep == 0 || read.token >= token_limit) return std::nullopt;
    const auto address = fields.rest();
    read.address.assign(address.begin(), address.end());
    return read;
}

}  // namespace ucp::cm::wire
