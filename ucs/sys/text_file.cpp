#include "ucs/sys/text_file.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {
namespace {

constexpr std::size_t max_size = 64 * 1024;

std::optional<unsigned> take_number(std::string_view& text) noexcept {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
    const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return std::nullopt;
    std::string text;
    char block[1024];
    while (text.size() < max_size) {
        const ssize_t count = ::read(fd.get(), block, sizeof(block));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return std::nullopt;
        if (count == 0) break;
        text.append(block, static_cast<std::size_t>(count));
    }
    text.resize(text.find_last_not_of(" \t\r\n") + 1);
    return text;
}

std::optional<long long> read_number(const std::string& path) {
    const auto text = read_text(path);
    if (!text) return std::nullopt;
    long long value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
    return value;
}

std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
    constexpr unsigned highest = 65535;
    std::vector<unsigned> cpus;
    while (!text.empty()) {
        const auto first = take_number(text);
        auto last = first;
        if (first && text.starts_with('-')) {
            text.remove_prefix(1);
            last = take_number(text);
        }
        if (!first || !last || *last < *first || *last > highest) return std::nullopt;
        for (unsigned cpu = *first; cpu <= *last; ++cpu)
            cpus.push_back(cpu);
        if (text.empty()) break;
        if (!text.starts_with(',') || text.size() == 1) return std::nullopt;
        text.remove_prefix(1);
    }
    return cpus;
}

std::vector<std::string> list_folder(const std::string& path) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
    if (!folder) return names;
    while (const dirent* entry = ::readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<std::string> real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr),
                                                          std::free);
    if (!resolved) return std::nullopt;
    return std::string(resolved.get());
}

std::string_view base_name(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace ucs::sys
