// The environment variables of the stand-in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace standin {

// standin.h says what each variable means. Immutable after the first use.
struct settings {
    int devices = 1;
    // Ordinals of this process, as indices of the devices above.
    std::vector<int> visible;
    std::set<std::pair<int, int>> without_peer_access;
    std::vector<std::string> pci_places;
    std::size_t memory_bytes = std::size_t{8} << 30U;
    int version = 13000;
    bool has_dma_buf = false;
    std::uint64_t seed = 1;
    unsigned delay_us = 30;
    std::string faults;
    std::string kernels;
    bool are_leaks_fatal = false;
    bool is_tracing = false;
};

// Reads the variables at the first call. Any thread. A value that cannot be read ends the process.
const settings& options();

// Splits a text where the separator is; an empty text has no parts.
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

// Returns the number of a variable of the environment, or ends the process with a line about it.
[[nodiscard]] unsigned long long read_number(const char* variable, const std::string& text);

}  // namespace standin
