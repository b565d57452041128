// What ucx_vfs and a process say to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ucs/type/unique_fd.hpp"

namespace ucs::vfs::wire {

// One packet: this header, then text. Both sides are of the same host and user; numbers are in the
// host's order. Version 1; a side drops a connection that says something else.
//
//   daemon -> process   (connects)
//   process -> daemon   ready, the name of the program; or refused, why
//   daemon -> process   mounted, with the descriptor of /dev/fuse
//   daemon -> daemon    stop: of `ucx_vfs stop`; the connection ends when all is unmounted
//
// From then on the connection only tells each side that the other one is gone.
enum class kind : std::uint16_t { ready = 1, refused = 2, mounted = 3, stop = 4 };

struct header {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t type;
};
inline constexpr std::uint32_t magic = 0x48575646;  // "FVWH"
inline constexpr std::uint16_t version = 1;
inline constexpr std::size_t longest_text = 1024;

struct packet {
    kind type;
    std::string text;
    unique_fd descriptor;
};

// What the bytes of one packet say, without the descriptor; nothing: they are none of this version.
// The text is for people: log::printable writes what could drive a terminal, or begin a new line.
[[nodiscard]] std::optional<packet> parse(std::span<const std::byte> bytes);

// 0 or errno. `descriptor` -1: none goes along.
int send(int socket, kind type, std::string_view text = {}, int descriptor = -1) noexcept;

// The next packet; nothing: none is there yet, or the connection is over or says nonsense (`over`).
[[nodiscard]] std::optional<packet> receive(int socket, bool& over);

}  // namespace ucs::vfs::wire
