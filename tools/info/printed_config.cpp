#include "tools/info/printed_config.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tools/common/failure.hpp"
#include "tools/common/text.hpp"

namespace tools::info {

std::string printed_config(const ucp_config_t* config, const char* title, unsigned flags) {
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* stream = ::open_memstream(&buffer, &size);
    if (stream == nullptr) throw failure("open_memstream: out of memory");
    ucp_config_print(config, stream, title, static_cast<ucs_config_print_flags_t>(flags));
    std::fclose(stream);
    const std::unique_ptr<char, decltype(&std::free)> owner(buffer, &std::free);
    return {buffer, size};
}

std::string printed_value(const ucp_config_t* config, std::string_view name) {
    const std::string text = printed_config(config, nullptr, UCS_CONFIG_PRINT_CONFIG);
    for (std::string_view line : split(text, '\n')) {
        if (!line.starts_with(name)) continue;
        line.remove_prefix(name.size());
        if (line.starts_with('=')) return std::string(line.substr(1));
    }
    return {};
}

}  // namespace tools::info
