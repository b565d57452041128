// Memory domain of the shared-memory transports, which connect processes of one host.
#pragma once

#include "uct/api/memory.hpp"

namespace uct::sm {

// Peers map the memory that allocate() returns (shared_block.hpp). They cannot map other memory, so
// share() returns UCS_ERR_UNSUPPORTED. Stateless: all instances are equivalent. Any thread.
class block_domain final : public memory_domain {
public:
    ucs::result<shared_memory> allocate(std::size_t length) override;
    ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) override;
    ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                       memory_access wanted) override;
};

}  // namespace uct::sm
