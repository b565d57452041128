// Wire format of a packed key, which the owner of memory gives to peers. Layout first.
//
// Version rule: byte 0 is the length of the key, byte 1 the version; a reader takes its own
// version only. All fields are in the byte order of x86-64.
//
// at  bytes
//  0  1  length of the whole key
//  1  1  version (1)
//  2  1  flags (key_flag)
//  3  1  permitted operations of peers (access)
//  4  8  id of the memory in its owner's table
// 12  8  secret: random; a process that knows it was given the key
// 20  8  address of the first byte at the owner
// 28  8  bytes
//        with a block, that other processes of the host can map:
// 36 28  its name (uct/sm/memory/packed_name.hpp)
//        with keys of devices:
//     1  number of keys; then for each
//     1  number of the device at the owner
//     1  length of its key, not 0
//     n  the key (uct::memory_domain::share)
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucp::mem::wire {

inline constexpr std::uint8_t version = 1;
inline constexpr std::size_t plain_length = 36;
// libfabric limits keys to this length; a key of the program's own memory with one device fits,
// too.
inline constexpr std::size_t block_length = 64;
inline constexpr std::size_t longest = 255;

enum key_flag : std::uint8_t {
    has_block = 1U << 0,
    exported = 1U << 1,  // for import by ucp_mem_map, not for use as an rkey
    has_devices = 1U << 2,
    on_device = 1U << 3,  // memory of a device, which the processor must not access
};
inline constexpr std::uint8_t known_flags = has_block | exported | has_devices | on_device;

}  // namespace ucp::mem::wire
