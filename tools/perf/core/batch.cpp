#include "tools/perf/core/batch.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"
#include "tools/perf/core/test_options.hpp"
#include "ucs/sys/trusted_file.hpp"

namespace tools::perf {
namespace {

constexpr std::size_t max_file = 1 << 20;

std::string read_file(const std::string& path) {
    const auto file = ucs::sys::open_for_reading(path, ucs::sys::file_trust::named_by_caller);
    if (!file) throw usage_error(fmt::format("-b: cannot open {}: {}", path, file.reason));
    auto [text, error] = ucs::sys::read_whole(file, max_file);
    if (error == EFBIG) throw usage_error(fmt::format("-b: {} is too large", path));
    if (error != 0)
        throw usage_error(fmt::format("-b: cannot read {}: {}", path, std::strerror(error)));
    return text;
}

void add_combinations(const test_case& so_far, std::span<const batch_file> files,
                      std::span<const std::string> overrides, std::vector<test_case>& all) {
    if (files.empty()) {
        test_case whole = so_far;
        apply_test_words(whole.params, overrides);
        check(whole.params);
        all.push_back(std::move(whole));
        return;
    }
    for (const batch_line& line : files.front().lines) {
        test_case next = so_far;
        next.names.push_back(line.name);
        try {
            apply_test_words(next.params, line.words);
            add_combinations(next, files.subspan(1), overrides, all);
        } catch (const usage_error& error) {
            throw usage_error(
                fmt::format("{}:{}: {}", files.front().path, line.line_number, error.what()));
        }
    }
}

}  // namespace

std::vector<batch_line> parse_batch(std::string_view text) {
    std::vector<batch_line> lines;
    unsigned number = 0;
    for (const std::string_view raw : split(text, '\n')) {
        ++number;
        const std::vector<std::string_view> parts = words(raw);
        if (parts.empty() || parts.front().front() == '#') continue;
        batch_line line;
        line.name = parts.front();
        line.words.assign(parts.begin() + 1, parts.end());
        line.line_number = number;
        lines.push_back(std::move(line));
    }
    return lines;
}

batch_file read_batch(const std::string& path) {
    batch_file file;
    file.path = path;
    file.title = path.substr(path.rfind('/') + 1);
    file.lines = parse_batch(read_file(path));
    if (file.lines.empty()) throw usage_error(fmt::format("-b: {} names no test", path));
    return file;
}

std::vector<test_case> combine(const test_params& base, std::span<const batch_file> files,
                               std::span<const std::string> overrides) {
    std::vector<test_case> all;
    add_combinations({{}, base}, files, overrides, all);
    return all;
}

}  // namespace tools::perf
