// A device that is open, and the memory that it knows.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "ucs/config/source.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/memory/dmabuf.hpp"
#include "ucs/memory/registration_cache.hpp"
#include "ucs/type/result.hpp"
#include "uct/ib/base/device_events.hpp"
#include "uct/ib/base/handle.hpp"
#include "uct/ib/base/memory_key.hpp"
#include "uct/ib/base/memory_windows.hpp"
#include "uct/ib/base/registration_price.hpp"

namespace uct::ib {

// A peer's memory: what a work request names it by. Immutable; any thread.
class remote_region final : public remote_memory {
public:
    remote_region(const memory_key& key, memory_access allowed) noexcept
        : key_(key), allowed_(allowed) {}

    [[nodiscard]] std::uint32_t key() const noexcept { return key_.number; }
    [[nodiscard]] memory_access allowed() const noexcept { return allowed_; }
    [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t length) const noexcept {
        const std::uint64_t offset = address - key_.base;
        return offset <= key_.length && length <= key_.length - offset;
    }

private:
    const memory_key key_;
    const memory_access allowed_;
};

// Local memory that the device may read and write as long as this is kept. Move only.
class local_region {
public:
    local_region() noexcept = default;
    explicit local_region(ucs::memory::registration held) noexcept : held_(std::move(held)) {}
    [[nodiscard]] std::uint32_t key() const noexcept {
        return static_cast<const ibv_mr*>(held_.handle())->lkey;
    }

private:
    ucs::memory::registration held_;
};

// One device, opened once for all interfaces on it, with its protection domain. What was shared is
// registered with the device, byte by byte; local memory of operations is, too, in whole pages that
// stay registered for the next operation, without any right of a peer's. Any thread.
class domain final : public memory_domain, private ucs::memory::registrar {
public:
    // Failures are logged.
    static ucs::result<std::shared_ptr<domain>> open(const std::string& device,
                                                     const ucs::config::source& config);
    ~domain() override;

    ucs::result<shared_memory> allocate(std::size_t length) override;
    ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) override;
    ucs_status_t prepare(std::span<const std::byte> bytes, memory_access how) noexcept override;
    [[nodiscard]] preparation preparation_of(std::span<const std::byte> bytes, memory_access how,
                                             memory_user by) noexcept override;
    ucs::result<shared_memory> lend(std::span<std::byte> bytes, memory_access allowed) override;
    ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                       memory_access wanted) override;
    void describe(ucs::vfs::directory& into) const override;

    // Lent memory gets its keys by windows where the domain wants them and some interface has given
    // it what they need, else by a registration each. What the first interface gives serves all.
    [[nodiscard]] bool wants_windows() const noexcept {
        return wants_windows_ && windows_.load(std::memory_order_relaxed) == nullptr;
    }
    void use_windows(memory_windows::queues made) noexcept;

    // For the pieces of an operation that reads or changes them. Failures are logged.
    [[nodiscard]] ucs::result<local_region> use(const void* address, std::size_t length,
                                                memory_access how) noexcept;
    // Memory of the library itself, which nobody unmaps meanwhile.
    [[nodiscard]] ucs::result<region_handle> use_own(void* address, std::size_t length) noexcept {
        return register_region(address, length, IBV_ACCESS_LOCAL_WRITE);
    }

    [[nodiscard]] ibv_context& context() const noexcept { return *context_; }
    [[nodiscard]] ibv_pd& pd() const noexcept { return *pd_; }
    [[nodiscard]] const ibv_device_attr& attr() const noexcept { return attr_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] device_events& events() noexcept { return events_; }
    [[nodiscard]] bool has_atomics() const noexcept { return attr_.atomic_cap != IBV_ATOMIC_NONE; }

private:
    domain(std::string name, context_handle context, domain_handle pd, const ibv_device_attr& attr,
           unsigned access_to_all, bool wants_windows,
           const ucs::memory::registration_cache::settings& cache);
    [[nodiscard]] memory_windows* windows_for(std::span<const std::byte> bytes) const noexcept;
    [[nodiscard]] ucs::result<shared_memory> lend_window(memory_windows& windows,
                                                         std::span<std::byte> bytes,
                                                         memory_access allowed);
    [[nodiscard]] ucs::result<shared_memory> register_for_peer(std::span<std::byte> bytes,
                                                               memory_access allowed,
                                                               unsigned access);
    ucs::result<void*> register_memory(void* begin, std::size_t length, unsigned access) override;
    void deregister_memory(void* handle) noexcept override;
    ucs::result<region_handle> register_region(void* address, std::size_t length,
                                               unsigned access) noexcept;
    ucs::result<region_handle> register_dmabuf(const ucs::memory::dmabuf& buffer, void* address,
                                               std::size_t length, unsigned access) noexcept;

    const std::string name_;
    const context_handle context_;
    const domain_handle pd_;
    const ibv_device_attr attr_;
    const unsigned access_to_all_;  // besides its own, of all memory of programs
    const bool wants_windows_;
    const bool takes_dmabuf_;
    const registration_price price_;
    device_events events_;
    // Keys come from peers. Its count may fall short where several threads are wrong at a time.
    ucs::log::throttle rejected_;
    ucs::memory::registration_cache cache_;
    std::mutex windows_lock_;  // for setting them, once
    std::unique_ptr<memory_windows> windows_owner_;
    std::atomic<memory_windows*> windows_ = nullptr;
};

}  // namespace uct::ib
