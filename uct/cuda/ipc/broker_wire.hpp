// Wire format of the socket by which a process passes on descriptors of its device memory.
//
// A peer connects to the abstract SOCK_SEQPACKET socket "hawser-cuda-<16 hex digits>" that a key
// names. Both sides check that the other one runs as the same user. The secret in the key proves
// that the peer may access the memory. Memory may consist of several allocations, which are
// adjacent in the owner's addresses; the peer asks for one after the other:
//
//   peer                          owner
//   request                   ->
//                             <-  reply; if it is granted, with the descriptor of the allocation
//
// The peer closes the connection. Numbers are in native byte order: both ends are one host. Version
// rule: magic and version stay where they are for ever; a reader accepts only its version.
#pragma once

#include <cstdint>
#include <type_traits>

#include "uct/cuda/ipc/key.hpp"

namespace uct::cuda {

inline constexpr std::uint32_t broker_magic = 0x43575348;  // "HSWC"
inline constexpr std::uint16_t broker_version = 1;
inline constexpr const char* broker_socket = "hawser-cuda";

struct broker_request {
    std::uint32_t magic = broker_magic;
    std::uint16_t version = broker_version;
    std::uint16_t zero = 0;
    std::uint64_t number = 0;  // of the export
    export_secret secret{};
    std::uint32_t index = 0;  // of the allocation
    std::uint32_t zero_tail = 0;
};
static_assert(sizeof(broker_request) == 40 &&
              std::has_unique_object_representations_v<broker_request>);

struct broker_reply {
    std::uint32_t magic = broker_magic;
    std::uint16_t version = broker_version;
    std::uint16_t is_granted = 0;  // 1: a descriptor comes with this
    std::uint64_t length = 0;      // of the allocation
    std::uint32_t count = 0;       // allocations of the export
    std::uint32_t zero = 0;
};
static_assert(sizeof(broker_reply) == 24 && std::has_unique_object_representations_v<broker_reply>);

}  // namespace uct::cuda
