// Memory blocks that other processes of the host can map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/api/memory.hpp"

namespace uct::sm {

// Name by which another process of the host finds a block: a descriptor of its owner. The random
// tag is part of the file's name, so a process that does not know it cannot make this process map
// anything. All 0: the block cannot be found.
struct block_name {
    std::uint64_t host = 0;
    std::uint64_t tag = 0;
    std::uint32_t pid_namespace = 0;
    std::uint32_t pid = 0;
    std::uint32_t fd = 0;

    [[nodiscard]] bool empty() const noexcept { return tag == 0; }
    friend bool operator==(const block_name&, const block_name&) = default;
};

// One mapping of a block, in the process that allocated it or in one that attached it. The memory
// is a sealed anonymous file, which cannot shrink, so accessing it never raises SIGBUS. It exists
// as long as a process has it mapped, even after the death of its owner. Immutable; any thread.
class shared_block {
public:
    ~shared_block();
    shared_block(const shared_block&) = delete;
    shared_block& operator=(const shared_block&) = delete;

    // Allocates memory, filled with zeros. If `wanted` is not nullptr, it is the preferred address;
    // with `exactly` the required one, and the result is UCS_ERR_NO_ELEM if that is not free. If
    // there are no descriptors, the memory is private and its name is empty. Returns
    // UCS_ERR_INVALID_PARAM if `wanted` is not the beginning of a page. Failures are logged.
    static ucs::result<std::shared_ptr<const shared_block>> allocate(std::size_t length,
                                                                     void* wanted, bool exactly);

    struct attached;
    // Maps the block of that name. The name is untrusted: the file is checked before it is mapped.
    static attached attach(const block_name& name, std::size_t length, bool writable);

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] const block_name& name() const noexcept { return name_; }

private:
    shared_block(std::byte* base, std::size_t length, ucs::unique_fd file, const block_name& name);

    std::byte* base_;
    std::size_t length_;
    ucs::unique_fd file_;  // kept open, because others find the block by it
    block_name name_;
};

// `reason` explains why if there is no block.
struct shared_block::attached {
    std::shared_ptr<const shared_block> block;
    std::string reason;
};

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
