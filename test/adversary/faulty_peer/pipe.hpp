// Exchange between the two processes before the attack, as lines of hexadecimal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

namespace adversary {

// The address of a process, and the memory that it exposes.
struct introduction {
    std::vector<std::byte> address;
    std::vector<std::byte> rkey;
    std::uint64_t memory = 0;
};

inline void write_bytes(std::FILE* into, const std::vector<std::byte>& bytes) {
    for (const std::byte each : bytes)
        std::fprintf(into, "%02x", std::to_integer<unsigned>(each));
    std::fputc('\n', into);
}

inline std::optional<std::vector<std::byte>> read_bytes(std::FILE* from) {
    std::vector<std::byte> read;
    for (;;) {
        const int first = std::fgetc(from);
        if (first == '\n') return read;
        const int second = std::fgetc(from);
        if (first == EOF || second == EOF) return std::nullopt;
        const char text[] = {static_cast<char>(first), static_cast<char>(second), 0};
        read.push_back(static_cast<std::byte>(std::strtoul(text, nullptr, 16)));
    }
}

inline void write_to(std::FILE* into, const introduction& sent) {
    write_bytes(into, sent.address);
    write_bytes(into, sent.rkey);
    std::fprintf(into, "%llx\n", static_cast<unsigned long long>(sent.memory));
    std::fflush(into);
}

inline std::optional<introduction> read_from(std::FILE* from) {
    auto address = read_bytes(from);
    auto rkey = read_bytes(from);
    unsigned long long memory = 0;
    if (!address || !rkey || std::fscanf(from, "%llx", &memory) != 1) return std::nullopt;
    std::fgetc(from);
    return introduction{std::move(*address), std::move(*rkey), memory};
}

}  // namespace adversary
