// Memory that other processes of the host can map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace uct::sm {

// How another process of the host finds a block: as a descriptor of its owner. The tag is random
// and part of the file's name, so whoever does not know it cannot make us map anything. All 0: the
// block cannot be found.
struct block_name {
    std::uint64_t host = 0;
    std::uint64_t tag = 0;
    std::uint32_t pid_namespace = 0;
    std::uint32_t pid = 0;
    std::uint32_t fd = 0;

    [[nodiscard]] bool empty() const noexcept { return tag == 0; }
    friend bool operator==(const block_name&, const block_name&) = default;
};

// One mapping of a block: of the process that allocated it, or of one that found it. The memory is
// a sealed anonymous file, which nobody can shrink, so touching it never raises SIGBUS; it lives as
// long as somebody has it mapped, also when its owner is dead. Immutable; any thread.
class shared_block {
public:
    ~shared_block();
    shared_block(const shared_block&) = delete;
    shared_block& operator=(const shared_block&) = delete;

    // New memory of zeros, at `wanted` if that is not nullptr: exactly there, or UCS_ERR_NO_ELEM
    // when the place is not free; otherwise it is a wish. Without descriptors the memory is
    // private, and its name is empty. UCS_ERR_INVALID_PARAM: not the beginning of a page. Failures
    // are logged.
    static ucs::result<std::shared_ptr<const shared_block>> allocate(std::size_t length,
                                                                     void* wanted, bool exactly);

    struct attached;
    // Maps the block of that name, which may be anything: it is looked at before it is mapped.
    static attached attach(const block_name& name, std::size_t length, bool writable);

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] const block_name& name() const noexcept { return name_; }

private:
    shared_block(std::byte* base, std::size_t length, ucs::unique_fd file, const block_name& name);

    std::byte* base_;
    std::size_t length_;
    ucs::unique_fd file_;  // kept open: others find the block by it
    block_name name_;
};

// `why_not` says in words why there is none.
struct shared_block::attached {
    std::shared_ptr<const shared_block> block;
    std::string why_not;
};

}  // namespace uct::sm
