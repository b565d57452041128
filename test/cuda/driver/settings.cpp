#include "test/cuda/driver/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace standin {
namespace {

[[noreturn]] void refuse(const char* variable, const std::string& text) {
    std::fprintf(stderr, "standin: %s=%s cannot be read; test/cuda/driver/standin.h explains it\n",
                 variable, text.c_str());
    ::_exit(98);
}

std::string text_of(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? "" : text;
}

unsigned long long number_of(const char* variable, unsigned long long otherwise) {
    const std::string text = text_of(variable);
    return text.empty() ? otherwise : read_number(variable, text);
}

void read_peers(settings& into) {
    constexpr const char* variable = "STANDIN_NO_PEER";
    for (const std::string& pair : split(text_of(variable), ',')) {
        const std::vector<std::string> ends = split(pair, '-');
        if (ends.size() != 2) refuse(variable, pair);
        const int first = static_cast<int>(read_number(variable, ends[0]));
        const int second = static_cast<int>(read_number(variable, ends[1]));
        into.without_peer_access.emplace(first, second);
        into.without_peer_access.emplace(second, first);
    }
}

// CUDA shows the devices up to the first one that does not exist.
void read_visible(settings& into) {
    constexpr const char* variable = "CUDA_VISIBLE_DEVICES";
    if (std::getenv(variable) == nullptr) {
        for (int index = 0; index < into.devices; ++index)
            into.visible.push_back(index);
        return;
    }
    for (const std::string& each : split(text_of(variable), ',')) {
        const bool is_number = each.find_first_not_of("0123456789") == std::string::npos;
        const int index = is_number && !each.empty() ? std::atoi(each.c_str()) : -1;
        if (index < 0 || index >= into.devices) return;
        into.visible.push_back(index);
    }
}

settings read() {
    settings read;
    read.devices = static_cast<int>(number_of("STANDIN_DEVICES", 1));
    read_visible(read);
    read_peers(read);
    read.pci_places = split(text_of("STANDIN_PCI"), ',');
    read.memory_bytes = number_of("STANDIN_MEMORY_MB", read.memory_bytes >> 20U) << 20U;
    read.version = static_cast<int>(number_of("STANDIN_VERSION", 13000));
    read.has_dma_buf = number_of("STANDIN_DMA_BUF", 0) != 0;
    read.seed = number_of("STANDIN_SEED", read.seed);
    read.delay_us = static_cast<unsigned>(number_of("STANDIN_DELAY_US", read.delay_us));
    read.faults = text_of("STANDIN_FAIL");
    read.kernels = text_of("STANDIN_KERNELS");
    read.are_leaks_fatal = text_of("STANDIN_LEAKS") == "fatal";
    read.is_tracing = number_of("STANDIN_TRACE", 0) != 0;
    return read;
}

}  // namespace

const settings& options() {
    static const settings& only = *new settings(read());
    return only;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

unsigned long long read_number(const char* variable, const std::string& text) {
    char* end = nullptr;
    const unsigned long long number = std::strtoull(text.c_str(), &end, 0);
    if (text.empty() || *end != '\0') refuse(variable, text);
    return number;
}

}  // namespace standin
