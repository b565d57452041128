// The addresses of device memory in this process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace standin {

// The driver's page size: mappings of device memory begin and end at multiples of it.
inline constexpr std::size_t device_page = std::size_t{2} << 20U;

// All device addresses lie in one range of the process, which cuInit reserves. Outside
// of mappings, and for the processor within most of them, an access faults. The caller holds the
// lock. The kernel is called directly: programs that watch mmap do not see this memory, as they do
// not see that of a GPU.
namespace address_space {

// Reserves the range. Fails with CUDA_ERROR_OUT_OF_MEMORY.
void reserve();

// Returns true if the address can only be one of device memory. Any thread.
[[nodiscard]] bool contains(std::uint64_t address) noexcept;

// Takes the lowest free addresses, or those at `wanted` if they are free. The length is a multiple
// of the device's page; the alignment is one or 0. Fails with CUDA_ERROR_OUT_OF_MEMORY.
[[nodiscard]] std::uint64_t take(std::size_t length, std::size_t alignment = 0,
                                 std::uint64_t wanted = 0);
void give_back(std::uint64_t address, std::size_t length);

// Maps part of a file to addresses that were taken. Only managed memory is accessible.
void map(std::uint64_t address, std::size_t length, int file, std::size_t offset,
         bool is_accessible);
void unmap(std::uint64_t address, std::size_t length);

// Lets the processor access a mapping, or forbids it.
void set_accessible(std::uint64_t address, std::size_t length, bool is_accessible);

}  // namespace address_space

}  // namespace standin
