// Access to the memory of the other processes of a node (process_vm_readv).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ucg/node/memory/layout.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

// Identifies a process: the pid, and a random number at an address where no other process has it.
// Trivially copyable, because processes send it to each other.
struct process_identity {
    std::int64_t pid = 0;
    std::uint64_t cookie_address = 0;
    std::uint64_t cookie = 0;

    // Returns the identity of the calling process. Any thread.
    [[nodiscard]] static process_identity own() noexcept;
};

// Reads memory of other processes by process_vm_readv, which the system may refuse (ptrace_scope, a
// container's filter, another user). The data may change while it is read. Addresses come from the
// other process; a wrong one harms only that process. An empty object knows no process. Any thread.
class local_peers {
public:
    local_peers() = default;
    explicit local_peers(std::vector<process_identity> ranks) noexcept : ranks_(std::move(ranks)) {}

    [[nodiscard]] bool empty() const noexcept { return ranks_.empty(); }
    // Returns whether the memory of all ranks can be read now.
    [[nodiscard]] bool can_read_all() const noexcept;

    // Returns UCS_OK if all bytes came from the process that the rank was, UCS_ERR_ENDPOINT_TIMEOUT
    // if that process no longer exists, or UCS_ERR_IO_ERROR if the system refuses or there is no
    // memory at the address.
    [[nodiscard]] ucs_status_t read(rank_t from, std::uint64_t address, void* into,
                                    std::size_t bytes) const noexcept;

private:
    std::vector<process_identity> ranks_;
};

}  // namespace ucg::node
