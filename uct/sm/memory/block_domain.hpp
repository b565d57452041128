// Memory domain of transports between the processes of a host.
#pragma once

#include "uct/api/memory.hpp"

namespace uct::sm {

// Memory is shared as blocks that peers map (shared_block.hpp), so only memory that was allocated
// for that can be shared. Stateless: all instances are equivalent. Any thread.
class block_domain final : public memory_domain {
public:
    ucs::result<shared_memory> allocate(std::size_t length) override;
    ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) override;
    ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                       memory_access wanted) override;
};

}  // namespace uct::sm
