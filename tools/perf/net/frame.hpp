// Wire format of the control connection between client and server.
//
// Each frame is a frame_header and then as many bytes of content as it says, at most max_content.
//
// The connection begins with the handshake of ucs/security/key_handshake.hpp, then a hello from
// each side. Each side sends alive frames regularly, so that the other side knows that it is not
// stopped.
//
// Little endian. A different magic or version ends the connection: both sides must have the same
// version; there is no negotiation. Content:
//   hello, barrier, finish, alive  nothing
//   test       strings, each ended by a zero byte: the batch label, then the option words
//   addresses  per thread: 4 bytes length, then the worker address
//   failure    text for people
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "tools/perf/core/test_params.hpp"
#include "ucs/net/record_stream.hpp"

namespace tools::perf {

enum class frame_type : std::uint16_t {
    hello = 1,
    test,
    addresses,
    barrier,
    failure,
    finish,
    alive
};

inline constexpr std::size_t max_content = std::size_t{16} << 20;

struct frame_header {
    std::array<char, 4> magic = {'H', 'W', 'P', 'F'};
    std::uint16_t version = 2;
    frame_type type{};
    std::uint32_t length = 0;
};
static_assert(sizeof(frame_header) == 12);
inline constexpr std::size_t frame_header_size = sizeof(frame_header);

struct frame {
    frame_type type{};
    std::vector<std::byte> content;
};

[[nodiscard]] std::array<std::byte, frame_header_size> pack_header(
    frame_type type, std::uint32_t length = 0) noexcept;

// Returns nullopt for bytes that are not a header of this format.
[[nodiscard]] std::optional<frame_header> parse_header(
    std::span<const std::byte, frame_header_size> bytes) noexcept;

using frame_stream = ucs::net::record_stream<frame_header_size, &parse_header>;

// Zero-terminated strings. Parsing returns nullopt if the last one is not terminated.
[[nodiscard]] std::vector<std::byte> pack_strings(std::span<const std::string> strings);
[[nodiscard]] std::optional<std::vector<std::string>> parse_strings(
    std::span<const std::byte> content);

// Length-prefixed blobs. Parsing returns nullopt if lengths and content disagree.
using blob = std::vector<std::byte>;
[[nodiscard]] std::vector<std::byte> pack_blobs(std::span<const blob> blobs);
[[nodiscard]] std::optional<std::vector<blob>> parse_blobs(std::span<const std::byte> content);

// Returns at most 500 bytes of a text from a peer, with characters that are not printable ASCII
// replaced.
[[nodiscard]] std::string printable(std::span<const std::byte> content);

// The request of a client to a server: the content of a test frame.
struct test_request {
    std::string label;  // names of the test in its batch, for the output
    test_params params;
};

// The limit of a valid word: the longest list of sizes is a little shorter.
inline constexpr std::size_t longest_word = std::size_t{64} << 10;

[[nodiscard]] std::vector<std::byte> pack_request(const test_request& request);

// Parses the request of a peer with the parser of the command line. Its errors quote words and are
// printed, so words that are too long or not printable are refused first. Throws failure or
// usage_error.
[[nodiscard]] test_request parse_request(std::span<const std::byte> content);

}  // namespace tools::perf
