// The protocol between ucx_vfs and a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ucs/type/unique_fd.hpp"

namespace ucs::vfs::wire {

// A packet is this header followed by text. Both sides are on the same host and of the same user;
// numbers are in host byte order. Version 1. Each side closes a connection that sends another
// version.
//
//   daemon -> process   (connects)
//   process -> daemon   ready, with the name of the program; or refused, with the reason
//   daemon -> process   mounted, with the descriptor of /dev/fuse
//   daemon -> daemon    stop, from `ucx_vfs stop`; the connection ends after all unmounts
//
// After that the connection only serves to detect that the other side is gone.
enum class kind : std::uint16_t { ready = 1, refused = 2, mounted = 3, stop = 4 };

struct header {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t type;
};
static_assert(sizeof(header) == 8);
inline constexpr std::uint32_t magic = 0x48575646;  // "FVWH"
inline constexpr std::uint16_t version = 1;
inline constexpr std::size_t longest_text = 1024;

struct packet {
    kind type;
    std::string text;
    unique_fd descriptor;
};

// Parses one packet, without its descriptor. Returns nullopt if it is not a packet of this version.
// The text is for people: log::printable escapes control characters.
[[nodiscard]] std::optional<packet> parse(std::span<const std::byte> bytes);

// Sends a packet. Returns 0 or an errno value. `descriptor`: passed along; -1: none.
int send(int socket, kind type, std::string_view text = {}, int descriptor = -1) noexcept;

// Returns the next packet. Returns nullopt if none has arrived, or, with `over` set, if the
// connection has ended or sent an invalid packet.
[[nodiscard]] std::optional<packet> receive(int socket, bool& over);

}  // namespace ucs::vfs::wire
