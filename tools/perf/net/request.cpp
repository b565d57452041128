#include "tools/perf/net/request.hpp"

#include <algorithm>

#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"
#include "tools/perf/net/frame.hpp"

namespace tools::perf {
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
