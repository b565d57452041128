// Memory domain of the cuda_ipc transport: device memory that processes of one host share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "ucs/config/source.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/memory/device_memory.hpp"
#include "uct/cuda/ipc/broker.hpp"
#include "uct/cuda/ipc/mapping_cache.hpp"
#include "uct/cuda/ipc/opener.hpp"
#include "uct/cuda/ipc/settings.hpp"

namespace uct::cuda {

// Access to a part of a peer's allocation. Immutable; any thread.
class ipc_region final : public remote_memory {
public:
    // `memory` is null for memory of this process.
    ipc_region(const ipc_key& key, memory_access allowed, mapping_cache::held memory) noexcept
        : begin_(key.base + key.offset),
          length_(key.length),
          shift_(memory == nullptr ? 0 : memory->memory().base - key.base),
          allowed_(allowed),
          memory_(std::move(memory)) {}

    [[nodiscard]] memory_access allowed() const noexcept { return allowed_; }
    [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t length) const noexcept {
        const std::uint64_t offset = address - begin_;
        return offset <= length_ && length <= length_ - offset;
    }
    // Returns where this process sees an address of the owner.
    [[nodiscard]] std::uint64_t mapped(std::uint64_t address) const noexcept {
        return address + shift_;
    }
    // Null for memory of this process.
    [[nodiscard]] const ucs::cuda::device_memory* memory() const noexcept {
        return memory_ == nullptr ? nullptr : &memory_->memory();
    }

private:
    const std::uint64_t begin_;
    const std::uint64_t length_;
    const std::uint64_t shift_;
    const memory_access allowed_;
    const mapping_cache::held memory_;
};

// Shares memory of CUDA devices alone: share() returns UCS_ERR_UNSUPPORTED without a log line for
// other memory, and for device memory that the driver does not export, so that the caller copies in
// another way. The driver shares whole allocations with every process that has the handle; the
// range and the rights of a key bind peers that do not deviate. Any thread.
class ipc_domain final : public memory_domain {
public:
    // Failures are logged.
    static ucs::result<std::shared_ptr<ipc_domain>> open(const ucs::config::source& config);

    ucs::result<shared_memory> allocate(std::size_t) override { return UCS_ERR_UNSUPPORTED; }
    ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) override;
    ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                       memory_access wanted) override;
    void describe(ucs::vfs::directory& into) const override;

    // An endpoint to a process exists, or exists no more. Memory of a process is unmapped soon
    // after its last endpoint is gone. May throw std::bad_alloc.
    void add_peer(std::uint64_t number);
    void remove_peer(std::uint64_t number) noexcept;

private:
    explicit ipc_domain(const ipc_settings& options) noexcept
        : mappings_(options.cache ? options.cache_max_regions : 0) {}

    [[nodiscard]] ucs::result<shared_memory> share_allocation(
        const ucs::cuda::device_memory& memory, std::span<std::byte> bytes, memory_access allowed);
    [[nodiscard]] ucs::result<shared_memory> share_parts(const ucs::cuda::device_memory& memory,
                                                         std::span<std::byte> bytes,
                                                         memory_access allowed);
    [[nodiscard]] ucs::result<handle_bytes> handle_of(const ucs::cuda::device_memory& memory);
    [[nodiscard]] ucs::result<std::uint64_t> device_number(int ordinal);
    [[nodiscard]] ucs::result<std::shared_ptr<broker>> find_broker();
    [[nodiscard]] ucs::result<mapping_cache::held> map(const ipc_key& key);
    [[nodiscard]] bool is_own_memory(const ipc_key& key) const;

    const ucs::memory::device_memory_user device_memory_;
    mapping_cache mappings_;
    opener opener_;
    ucs::log::throttle rejected_;
    mutable std::mutex lock_;                                  // guards what follows
    std::unordered_map<std::uint64_t, handle_bytes> handles_;  // by buffer id
    std::map<int, std::uint64_t> devices_;                     // numbers by ordinals
    std::map<std::uint64_t, unsigned> peers_;                  // endpoints by processes
    std::shared_ptr<broker> broker_;                           // since the first export
};

}  // namespace uct::cuda
