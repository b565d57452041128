// Memory domain: an open device, its protection domain and its registered memory.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "ucs/config/source.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/memory/dmabuf.hpp"
#include "ucs/memory/registration_cache.hpp"
#include "ucs/type/result.hpp"
#include "uct/ib/base/device/device_events.hpp"
#include "uct/ib/base/device/handle.hpp"
#include "uct/ib/base/memory/memory_key.hpp"
#include "uct/ib/base/memory/memory_windows.hpp"
#include "uct/ib/base/memory/registration_price.hpp"

namespace uct::ib {

// A peer's memory, as work requests name it. Immutable; any thread.
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

// Registration of local memory, which the device may access while this object exists. Move only.
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

// One device, opened once for all interfaces on it, with its protection domain. Shared memory is
// registered exactly. Local memory of operations is registered in whole pages, which stay
// registered for the next operation and give peers no rights. Any thread.
class domain final : public memory_domain, private ucs::memory::registrar {
public:
    // Failures are logged.
    static ucs::result<std::shared_ptr<domain>> open(const std::string& device,
                                                     const ucs::config::source& config);
    ~domain() override;

    ucs::result<shared_memory> allocate(std::size_t length) override;
    ucs::result<shared_memory> share(std::span<std::byte> bytes, memory_access allowed) override;
    ucs_status_t prepare(std::span<const std::byte> bytes, memory_access access) noexcept override;
    [[nodiscard]] preparation preparation_of(std::span<const std::byte> bytes, memory_access access,
                                             memory_user user) noexcept override;
    ucs::result<shared_memory> expose(std::span<std::byte> bytes, memory_access allowed) override;
    ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                       memory_access wanted) override;
    void describe(ucs::vfs::directory& into) const override;

    // Exposed memory gets its keys by memory windows if the domain wants them and an interface has
    // provided the queues for them, otherwise by a registration each. The queues of the first
    // interface serve all.
    [[nodiscard]] bool wants_windows() const noexcept {
        return wants_windows_ && windows_.load(std::memory_order_relaxed) == nullptr;
    }
    void use_windows(memory_windows::queues made) noexcept;

    // Registers a piece of an operation, which reads or writes it. Failures are logged.
    [[nodiscard]] ucs::result<local_region> use(const void* address, std::size_t length,
                                                memory_access access) noexcept;
    // Registers memory of the library itself, which stays mapped.
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
    [[nodiscard]] ucs::result<shared_memory> expose_window(memory_windows& windows,
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
    const unsigned access_to_all_;  // additional rights of all registered memory of programs
    const bool wants_windows_;
    const bool takes_dmabuf_;
    const registration_price price_;
    device_events events_;
    // Keys come from peers. The count may be too low if several threads count at the same time.
    ucs::log::throttle rejected_;
    ucs::memory::registration_cache cache_;
    std::mutex windows_lock_;  // for setting `windows_owner_`, once
    std::unique_ptr<memory_windows> windows_owner_;
    std::atomic<memory_windows*> windows_ = nullptr;
};

}  // namespace uct::ib
