// A hostile client or server of ucx_perftest: arbitrary bytes over the control connection. The
// first input byte chooses the type of a frame whose content is the rest, or makes the rest a
// stream of frames.

#include "test/fuzz/program.hpp"
#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"
#include "tools/perf/net/frame.hpp"

using fuzz::require;
using namespace tools::perf;

namespace {

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// An accepted frame must survive packing and parsing, and the reason of a refusal must be
// printable.
void read_request(std::span<const std::byte> content) {
    try {
        const test_request asked = parse_request(content);
        require(is_printable(asked.label));
        require(asked.params.extent() >= asked.params.message_size());
        require(to_words(parse_request(pack_request(asked)).params) == to_words(asked.params));
    } catch (const tools::usage_error& error) {
        require(is_printable(error.what()));
    } catch (const tools::failure& error) {
        require(is_printable(error.what()));
    }
}

void read_addresses(std::span<const std::byte> content) {
    const auto addresses = parse_blobs(content);
    if (!addresses) return;
    const std::vector<std::byte> again = pack_blobs(*addresses);
    require(std::equal(again.begin(), again.end(), content.begin(), content.end()));
}

void read_content(frame_type type, std::span<const std::byte> content) {
    const fuzz::exact_copy exact(content);
    content = exact.bytes();
    if (type == frame_type::test) {
        read_request(content);
    } else if (type == frame_type::addresses) {
        read_addresses(content);
    } else if (type == frame_type::failure) {
        const std::string text = printable(content);
        require(is_printable(text) && text.size() <= 500);
    }
}

void read_stream(std::span<const std::byte> bytes) {
    while (bytes.size() >= frame_header_size) {
        const auto header = parse_header(bytes.first<frame_header_size>());
        if (!header) return;
        require(header->length <= max_content);
        const auto again = pack_header(header->type, header->length);
        require(std::equal(again.begin(), again.end(), bytes.begin()));
        bytes = bytes.subspan(frame_header_size);
        if (header->length > bytes.size()) return;
        read_content(header->type, bytes.first(header->length));
        bytes = bytes.subspan(header->length);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto rest = std::as_bytes(std::span(data + 1, size - 1));
    const unsigned type = data[0] % (static_cast<unsigned>(frame_type::finish) + 1);
    if (type == 0) {
        read_stream(rest);
    } else {
        read_content(static_cast<frame_type>(type), rest);
    }
    return 0;
}
