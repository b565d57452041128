// Address of an interface of the CUDA transports: it names a process.
//
// 32 bytes, native byte order, because readers are on the host that wrote it, or find by `host`
// that it is foreign. Version rule: byte 0 is the version, a reader accepts only its own.
//
//   0  u8   version (1)
//   1  u8   zero [3]
//   4  u32  process id
//   8  u64  host
//  16  u64  random number of the process
//  24  u32  pid namespace
//  28  u32  number of the interface in its process
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace uct::cuda {

struct process_address {
    static constexpr std::uint8_t current_version = 1;

    std::uint8_t version = current_version;
    std::uint8_t zero[3] = {};
    std::uint32_t pid = 0;
    std::uint64_t host = 0;
    std::uint64_t number = 0;
    std::uint32_t pid_namespace = 0;
    std::uint32_t interface_number = 0;

    // Returns an address of this process with the next number.
    [[nodiscard]] static process_address next() noexcept;
    // Returns nothing if the untrusted bytes are malformed, or of another version.
    [[nodiscard]] static std::optional<process_address> parse(
        std::span<const std::byte> from) noexcept;

    [[nodiscard]] bool is_same_process(const process_address& other) const noexcept {
        return host == other.host && number == other.number && pid == other.pid &&
               pid_namespace == other.pid_namespace;
    }
};
static_assert(sizeof(process_address) == 32 &&
              std::has_unique_object_representations_v<process_address>);

// Returns the random number of this process, which no other process has. The child of a fork gets
// another one. Any thread.
[[nodiscard]] std::uint64_t process_number() noexcept;

}  // namespace uct::cuda
