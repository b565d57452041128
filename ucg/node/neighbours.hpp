// The processes of a node as far as one may read their memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ucg/node/layout.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

// How a process is recognised: by a number that nobody else has in that place. Trivially copyable:
// processes send it to each other.
struct process_mark {
    std::int64_t pid = 0;
    std::uint64_t cookie_at = 0;
    std::uint64_t cookie = 0;

    // Of the calling process. Any thread.
    [[nodiscard]] static process_mark own() noexcept;
};

// By process_vm_readv, which the system may refuse (ptrace_scope, a container's filter, another
// user). What is read may change meanwhile, and addresses come from the other process: a wrong one
// is its own loss. Empty: nobody is known. Any thread.
class neighbours {
public:
    neighbours() = default;
    explicit neighbours(std::vector<process_mark> of_ranks) noexcept
        : ranks_(std::move(of_ranks)) {}

    [[nodiscard]] bool empty() const noexcept { return ranks_.empty(); }
    // Whether the memory of all can be read now.
    [[nodiscard]] bool can_read_all() const noexcept;

    // UCS_OK: all bytes came from the process that the rank was. UCS_ERR_ENDPOINT_TIMEOUT: there is
    // no such process any more. UCS_ERR_IO_ERROR: the system refuses, or there is no memory there.
    [[nodiscard]] ucs_status_t read(rank_t from, std::uint64_t address, void* into,
                                    std::size_t bytes) const noexcept;

private:
    std::vector<process_mark> ranks_;
};

}  // namespace ucg::node
