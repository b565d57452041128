#include "ucs/vfs/wire.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "ucs/sys/descriptor_passing.hpp"

namespace ucs::vfs::wire {
int send(int socket, kind type, std::string_view text, int descriptor) noexcept {
    std::array<char, sizeof(header) + longest_text> bytes;
    const header head{magic, version, static_cast<std::uint16_t>(type)};
    const std::size_t length = std::min(text.size(), longest_text);
    std::memcpy(bytes.data(), &head, sizeof head);
    if (length > 0) std::memcpy(bytes.data() + sizeof head, text.data(), length);
    return sys::send_with_descriptor(
        socket, std::as_bytes(std::span(bytes)).first(sizeof head + length), descriptor);
}

std::optional<packet> receive(int socket, bool& over) {
    std::array<char, sizeof(header) + longest_text> bytes;
    sys::received_message got =
        sys::receive_with_descriptor(socket, std::as_writable_bytes(std::span(bytes)));
    over = !got.nothing_yet();
    if (got.length < 0) return std::nullopt;
    header head{};
    if (static_cast<std::size_t>(got.length) < sizeof head) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.magic != magic || head.version != version) return std::nullopt;
    over = false;
    const std::size_t text = static_cast<std::size_t>(got.length) - sizeof head;
    return packet{static_cast<kind>(head.type), std::string(bytes.data() + sizeof head, text),
                  std::move(got.descriptor)};
}

}  // namespace ucs::vfs::wire
