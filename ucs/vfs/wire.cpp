#include "ucs/vfs/wire.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/log/printable.hpp"

namespace ucs::vfs::wire {
namespace {

bool is_kind(std::uint16_t type) {
    return type >= static_cast<std::uint16_t>(kind::ready) &&
           type <= static_cast<std::uint16_t>(kind::stop);
}

}  // namespace

int send(int socket, kind type, std::string_view text, int descriptor) noexcept {
    std::array<char, sizeof(header) + longest_text> bytes;
    const header head{magic, version, static_cast<std::uint16_t>(type)};
    const std::size_t length = std::min(text.size(), longest_text);
    std::memcpy(bytes.data(), &head, sizeof head);
    if (length > 0) std::memcpy(bytes.data() + sizeof head, text.data(), length);
    return sys::send_with_descriptor(
        socket, std::as_bytes(std::span(bytes)).first(sizeof head + length), descriptor);
}

std::optional<packet> parse(std::span<const std::byte> bytes) {
    header head{};
    if (bytes.size() < sizeof head || bytes.size() - sizeof head > longest_text)
        return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
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
