#include "ucs/vfs/wire.hpp"

#include <sys/socket.h>

#include <array>
#include <utility>

#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/log/printable.hpp"
#include "ucs/wire/codec.hpp"

namespace ucs::vfs::wire {
namespace {

bool is_kind(std::uint16_t type) {
    return type >= static_cast<std::uint16_t>(kind::ready) &&
           type <= static_cast<std::uint16_t>(kind::stop);
}

}  // namespace

int send(int socket, kind type, std::string_view text, int descriptor) noexcept {
    std::array<std::byte, sizeof(header) + longest_text> bytes;
    ucs::wire::writer out(bytes);
    out.put(header{magic, version, static_cast<std::uint16_t>(type)});
    out.put_bytes(std::as_bytes(std::span(text.substr(0, longest_text))));
    return sys::send_with_descriptor(socket, out.written(), descriptor);
}

std::optional<packet> parse(std::span<const std::byte> bytes) {
    const auto head = ucs::wire::reader(bytes).get<header>();
    if (bytes.size() > sizeof head + longest_text) return std::nullopt;
    if (head.magic != magic || head.version != version || !is_kind(head.type)) return std::nullopt;
    const auto payload = bytes.subspan(sizeof head);
    const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
    return packet{static_cast<kind>(head.type), log::printable(text), {}};
}

std::optional<packet> receive(int socket, bool& over) {
    std::array<std::byte, sizeof(header) + longest_text> bytes;
    sys::received_message got = sys::receive_with_descriptor(socket, bytes);
    over = !got.would_block();
    if (got.length < 0 || got.truncated) return std::nullopt;
    auto message = parse(std::span(bytes).first(static_cast<std::size_t>(got.length)));
    if (!message) return std::nullopt;
    over = false;
    message->descriptor = std::move(got.descriptor);
    return message;
}

}  // namespace ucs::vfs::wire
