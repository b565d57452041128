#include "tools/perf/core/size_list.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"

namespace tools::perf {
namespace {

struct run_of_sizes {
    std::size_t size;
    std::size_t count;
};

run_of_sizes parse_piece(std::string_view piece) {
    const std::size_t colon = piece.find(':');
    const auto size = parse_size(piece.substr(0, colon));
    auto count = std::optional<std::uint64_t>(1);
    if (colon != std::string_view::npos) count = parse_count(piece.substr(colon + 1));
    if (!size || !count || *count == 0) {
        throw usage_error(fmt::format(
            "-s: \"{}\" is not a size (bytes with k, m or g behind, and :N for N pieces)", piece));
    }
    return {*size, *count};
}

}  // namespace

std::vector<std::size_t> parse_size_list(std::string_view text) {
    std::vector<std::size_t> sizes;
    std::size_t total = 0;
    for (const std::string_view piece : split(text, ',')) {
        const auto [size, count] = parse_piece(piece);
        if (count > max_pieces - sizes.size()) {
            throw usage_error(fmt::format("-s: more than {} pieces", max_pieces));
        }
        if (size > max_message || size * count > max_message - total) {
            throw usage_error(fmt::format("-s: a message of more than {} bytes", max_message));
        }
        total += size * count;
        sizes.insert(sizes.end(), count, size);
    }
    return sizes;
}

std::string print_size_list(const std::vector<std::size_t>& sizes) {
    std::string text;
    for (std::size_t index = 0; index < sizes.size();) {
        std::size_t count = 1;
        while (index + count < sizes.size() && sizes[index + count] == sizes[index])
            ++count;
        if (index != 0) text += ',';
        text += std::to_string(sizes[index]);
        if (count > 1) text += ':' + std::to_string(count);
        index += count;
    }
    return text;
}

}  // namespace tools::perf
