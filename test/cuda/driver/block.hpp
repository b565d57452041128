// Physical memory of a device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "test/cuda/driver/device.hpp"

namespace standin {

// Shared memory allocates in steps of this: several small allocations share a block.
inline constexpr std::size_t allocation_step = 512;

struct block_head {
    char magic[8];
    std::uint64_t length;
    CUuuid device;
};

// Lies behind the memory of a block in its file, where processes that import the block find it.
struct block_trailer {
    block_head head;
    // By place in the block: the buffer id of the allocation that begins there, 0 if it was freed.
    // Allocations of their own block use the first entry.
    std::atomic<std::uint64_t> live[(std::size_t{2} << 20U) / allocation_step];
};

// A piece of a device's memory, kept in a memfd. Owned by the allocations and operations that use
// it, which may be in any thread. Two mappings show it: one at device addresses, that faults, and
// `bytes`, that the stand-in itself uses.
class block {
public:
    // Fails with CUDA_ERROR_OUT_OF_MEMORY. The length is a multiple of the host's page.
    [[nodiscard]] static std::shared_ptr<block> create(device& on, std::size_t length);

    // Takes over a file of another process, or of this one. Fails with CUDA_ERROR_INVALID_VALUE if
    // it is not the file of a block, or its device is not visible here.
    [[nodiscard]] static std::shared_ptr<block> import(int file);

    ~block();
    block(const block&) = delete;
    block& operator=(const block&) = delete;

    [[nodiscard]] char* bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] device& on() const noexcept { return on_; }
    [[nodiscard]] int file() const noexcept { return file_; }
    [[nodiscard]] block_trailer& trailer() const noexcept;
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

private:
    block(device& on, std::size_t length, int file, bool is_own);

    device& on_;
    std::size_t length_;
    int file_;
    bool is_own_;
    std::uint64_t number_;
    char* bytes_;
};

// Returns a random number that tells this process from all others.
[[nodiscard]] std::uint64_t process_nonce() noexcept;

// Returns the name of a block's memfd, which proves to importers that it is the right file.
[[nodiscard]] std::string name_of_block(std::uint64_t nonce, std::uint64_t number);

}  // namespace standin
