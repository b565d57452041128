// Memory domain of the simulated RDMA device.
#pragma once

#include "uct/sim/fabric.hpp"

namespace uct::sim {

// Memory of a peer that this process has attached, for operations on it. Immutable.
class remote_region final : public remote_memory {
public:
    remote_region(std::uint64_t base, std::uint64_t length, std::uint32_t key,
                  memory_access allowed) noexcept
        : base_(base), length_(length), key_(key), allowed_(allowed) {}

    [[nodiscard]] std::uint32_t key() const noexcept { return key_; }
    [[nodiscard]] memory_access allowed() const noexcept { return allowed_; }
    [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t length) const noexcept {
        return address - base_ <= length_ && length <= length_ - (address - base_);
    }

private:
    const std::uint64_t base_;
    const std::uint64_t length_;
    const std::uint32_t key_;
    const memory_access allowed_;
};

// Registers memory under random keys. A registration covers exactly the given bytes. It ends when
// its keeper is destroyed, unless the simulated network keeps registrations (`keeps_registered`).
// If a peer accesses the memory after that, its connection fails. The fabric outlives the domain
// and its keepers. Only the thread of the simulation may use it.
class paired_domain final : public memory_domain {
public:
    explicit paired_domain(fabric& network);

    ucs::result<shared_memory> allocate(std::size_t length) override;
    ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) override;
    ucs::result<shared_memory> expose(std::span<std::byte> bytes, memory_access allowed) override;
    ucs_status_t prepare(std::span<const std::byte>, memory_access) noexcept override {
        return fabric_.refuses_memory() ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    [[nodiscard]] preparation preparation_of(std::span<const std::byte>, memory_access,
                                             memory_user) noexcept override {
        return {fabric_.network().paired.registration_time, false};
    }
    ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                       memory_access wanted) override;

    // Returns the registrations of this domain.
    [[nodiscard]] const std::shared_ptr<regions>& known() const noexcept { return known_; }

private:
    ucs::result<shared_memory> add(std::span<std::byte> bytes, memory_access allowed,
                                   peer_rights rights, bool for_ever);

    fabric& fabric_;
    const std::shared_ptr<regions> known_;
};

}  // namespace uct::sim
