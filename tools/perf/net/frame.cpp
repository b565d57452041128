#include "tools/perf/net/frame.hpp"

#include <algorithm>

#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"
#include "ucs/wire/codec.hpp"

namespace tools::perf {

std::array<std::byte, frame_header_size> pack_header(frame_type type,
                                                     std::uint32_t length) noexcept {
    std::array<std::byte, frame_header_size> bytes{};
    ucs::wire::writer(bytes).put(frame_header{.type = type, .length = length});
    return bytes;
}

std::optional<frame_header> parse_header(
    std::span<const std::byte, frame_header_size> bytes) noexcept {
    const auto header = ucs::wire::read<frame_header>(bytes);
    if (header->magic != frame_header{}.magic || header->version != frame_header{}.version ||
        header->type < frame_type::hello || header->type > frame_type::alive ||
        header->length > max_content) {
        return std::nullopt;
    }
    return header;
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
    std::size_t size = 0;
    for (const blob& one : blobs)
        size += sizeof(std::uint32_t) + one.size();
    std::vector<std::byte> content(size);
    ucs::wire::writer out(content);
    for (const blob& one : blobs)
        out.put(static_cast<std::uint32_t>(one.size())).put_bytes(one);
    return content;
}

std::optional<std::vector<blob>> parse_blobs(std::span<const std::byte> content) {
    std::vector<blob> blobs;
    ucs::wire::reader in(content);
    while (in.ok() && in.left() > 0) {
        const auto bytes = in.bytes(in.get<std::uint32_t>());
        blobs.emplace_back(bytes.begin(), bytes.end());
    }
    if (!in.ok()) return std::nullopt;
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

namespace {

bool is_sane(const std::string& word) {
    return word.size() <= longest_word &&
           std::all_of(word.begin(), word.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

std::vector<std::byte> pack_request(const test_request& request) {
    std::vector<std::string> words = to_words(request.params);
    words.insert(words.begin(), request.label);
    return pack_strings(words);
}

test_request parse_request(std::span<const std::byte> content) {
    const auto words = parse_strings(content);
    if (!words || words->empty()) throw failure("the client sent a malformed test request");
    const auto options = std::span(*words).subspan(1);
    if (!std::all_of(options.begin(), options.end(), is_sane)) {
        throw failure("the client sent a test request with words that are not text");
    }
    test_request asked{printable(std::as_bytes(std::span(words->front()))), {}};
    apply_test_words(asked.params, options);
    check(asked.params);
    return asked;
}

}  // namespace tools::perf
