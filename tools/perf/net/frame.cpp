#include "tools/perf/net/frame.hpp"

#include <algorithm>
#include <cstring>

namespace tools::perf {
namespace {

constexpr std::array<char, 4> magic{'H', 'W', 'P', 'F'};
constexpr std::uint16_t version = 2;

template<class Integer>
void put(std::byte* bytes, Integer value) noexcept {
    for (std::size_t byte = 0; byte < sizeof(value); ++byte) {
        bytes[byte] = static_cast<std::byte>((value >> (8 * byte)) & 0xff);
    }
}

template<class Integer>
Integer get(const std::byte* bytes) noexcept {
    std::uint32_t value = 0;
    for (std::size_t byte = 0; byte < sizeof(Integer); ++byte) {
        value |= std::to_integer<std::uint32_t>(bytes[byte]) << (8 * byte);
    }
    return static_cast<Integer>(value);
}

}  // namespace

std::array<std::byte, frame_header_size> pack_header(frame_header header) noexcept {
    std::array<std::byte, frame_header_size> bytes{};
    std::memcpy(bytes.data(), magic.data(), magic.size());
    put(&bytes[4], version);
    put(&bytes[6], static_cast<std::uint16_t>(header.type));
    put(&bytes[8], header.length);
    return bytes;
}

std::optional<frame_header> parse_header(
    std::span<const std::byte, frame_header_size> bytes) noexcept {
    if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) return std::nullopt;
    if (get<std::uint16_t>(&bytes[4]) != version) return std::nullopt;
    const auto type = get<std::uint16_t>(&bytes[6]);
    if (type < static_cast<std::uint16_t>(frame_type::hello) ||
        type > static_cast<std::uint16_t>(frame_type::alive)) {
        return std::nullopt;
    }
    const auto length = get<std::uint32_t>(&bytes[8]);
    if (length > max_content) return std::nullopt;
    return frame_header{static_cast<frame_type>(type), length};
}

std::vector<std::byte> pack_strings(std::span<const std::string> strings) {
    std::vector<std::byte> content;
    for (const std::string& text : strings) {
        const auto* bytes = reinterpret_cast<const std::byte*>(text.c_str());
        content.insert(content.end(), bytes, bytes + text.size() + 1);
    }
    return content;
}

std::optional<std::vector<std::string>> parse_strings(std::span<const std::byte> content) {
    std::vector<std::string> strings;
    while (!content.empty()) {
        const auto end = std::find(content.begin(), content.end(), std::byte{0});
        if (end == content.end()) return std::nullopt;
        const auto length = static_cast<std::size_t>(end - content.begin());
        strings.emplace_back(reinterpret_cast<const char*>(content.data()), length);
        content = content.subspan(length + 1);
    }
    return strings;
}

std::vector<std::byte> pack_blobs(std::span<const blob> blobs) {
    std::vector<std::byte> content;
    for (const blob& one : blobs) {
        std::array<std::byte, 4> length{};
        put(length.data(), static_cast<std::uint32_t>(one.size()));
        content.insert(content.end(), length.begin(), length.end());
        content.insert(content.end(), one.begin(), one.end());
    }
    return content;
}

std::optional<std::vector<blob>> parse_blobs(std::span<const std::byte> content) {
    std::vector<blob> blobs;
    while (!content.empty()) {
        if (content.size() < 4) return std::nullopt;
        const auto length = get<std::uint32_t>(content.data());
        content = content.subspan(4);
        if (length > content.size()) return std::nullopt;
        blobs.emplace_back(content.begin(), content.begin() + length);
        content = content.subspan(length);
    }
    return blobs;
}

std::string printable(std::span<const std::byte> content) {
    std::string text;
    for (const std::byte one : content.first(std::min<std::size_t>(content.size(), 500))) {
        const auto letter = std::to_integer<unsigned char>(one);
        text += letter >= 0x20 && letter < 0x7f ? static_cast<char>(letter) : '?';
    }
    return text;
}

}  // namespace tools::perf
