#include "uct/ib/base/memory/domain.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "ucs/config/once.hpp"
#include "ucs/memory/mapped.hpp"
#include "uct/ib/base/device/device.hpp"
#include "uct/ib/base/device/sysfs.hpp"
#include "uct/ib/base/memory/on_demand.hpp"
#include "uct/ib/base/settings.hpp"

namespace uct::ib {
namespace {

std::vector<std::byte> key_to(std::span<std::byte> bytes, std::uint32_t number,
                              memory_access allowed) {
    const memory_key key{reinterpret_cast<std::uint64_t>(bytes.data()), bytes.size(), number,
                         allowed};
    std::vector<std::byte> packed(memory_key::size);
    key.pack(packed);
    return packed;
}

// The kernel looks at the descriptor only if the device's driver supports the call.
bool has_dmabuf(ibv_pd& pd) noexcept {
    constexpr std::size_t page = 4096;
    constexpr int no_descriptor = -1;
    const region_handle none(
        ibv_reg_dmabuf_mr(&pd, 0, page, 0, no_descriptor, IBV_ACCESS_LOCAL_WRITE));
    return none == nullptr && errno == EBADF;
}

// The rights of cached registrations: no more than needed, because a device may not write to the
// pages of constants, and no right that a peer could use with the key of the region. Memory that is
// used in another way later is registered again, with both rights.
unsigned kept_rights(memory_access access, memory_user user) noexcept {
    const unsigned own = access == memory_access::change ? IBV_ACCESS_LOCAL_WRITE : 0;
    return user == memory_user::own ? own : own | IBV_ACCESS_MW_BIND;
}

// A peer that writes a message must not read the previous content.
unsigned exposed_rights(memory_access allowed) noexcept {
    return allowed == memory_access::change ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
}

void warn_of_no_windows(const std::string& device, const char* why) {
    if (!ucs::config::first_time("device without memory windows")) return;
    ucs::log::warn(
        ib_log,
        "{}: UCX_IB_MEMORY_WINDOWS=y has no effect, because {}; memory is registered for "
        "each message that a peer reads or writes",
        device, why);
}

// The kernel's devices (rxe) check the rights of a window, but check its bounds only against the
// region.
bool uses_windows(const settings& options, const std::string& device, const ibv_device_attr& attr) {
    const bool is_demanded = options.memory_windows == ucs::config::ternary::yes;
    if (options.memory_windows == ucs::config::ternary::no) return false;
    if (!is_demanded && device_entry::read(device).is_software) return false;
    const char* reason = nullptr;
    if ((attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW) == 0) reason = "the device has none";
    if (!options.cache) reason = "UCX_IB_RCACHE_ENABLE=n keeps nothing registered";
    if (reason != nullptr && is_demanded) warn_of_no_windows(device, reason);
    return reason == nullptr;
}

}  // namespace

domain::domain(std::string name, context_handle context, domain_handle pd,
               const ibv_device_attr& attr, unsigned access_to_all, bool wants_windows,
               const ucs::memory::registration_cache::settings& cache)
    : name_(std::move(name)),
      context_(std::move(context)),
      pd_(std::move(pd)),
      attr_(attr),
      access_to_all_(access_to_all),
      wants_windows_(wants_windows),
      takes_dmabuf_(has_dmabuf(*pd_)),
      price_(registration_price::measured(*pd_, access_to_all)),
      events_(*context_),
      cache_(*this, name_, cache) {}

domain::~domain() = default;

ucs::result<std::shared_ptr<domain>> domain::open(const std::string& device,
                                                  const ucs::config::source& config) {
    const auto options = ucs::config::load<settings>(config);
    if (!options) return options.status();
    auto context = open_device(device);
    if (!context) return context.status();
    ibv_device_attr attr{};
    if (const int error = ibv_query_device(context->get(), &attr); error != 0) {
        ucs::log::error(ib_log, "{}: the device does not tell what it can do: {}", device,
                        std::strerror(error));
        return UCS_ERR_IO_ERROR;
    }
    domain_handle pd(ibv_alloc_pd(context->get()));
    if (pd == nullptr) {
        ucs::log::error(ib_log, "{}: no protection domain: {}", device, std::strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    const bool with_atomics = attr.atomic_cap != IBV_ATOMIC_NONE;
    const bool on_demand = registers_on_demand(options->on_demand, **context, with_atomics, device);
    return std::shared_ptr<domain>(new domain(
        device, std::move(*context), std::move(pd), attr,
        on_demand ? unsigned{IBV_ACCESS_ON_DEMAND} : 0U, uses_windows(*options, device, attr),
        {options->cache, options->cached_regions, options->cached_bytes.bytes}));
}

ucs::result<void*> domain::register_memory(void* begin, std::size_t length, unsigned access) {
    auto made = register_region(begin, length, access | access_to_all_);
    if (!made) return made.status();
    return static_cast<void*>(made->release());
}

void domain::deregister_memory(void* handle) noexcept {
    const region_handle last(static_cast<ibv_mr*>(handle));
}

ucs::result<region_handle> domain::register_region(void* address, std::size_t length,
                                                   unsigned access) noexcept {
    if (const auto buffer = ucs::memory::find_dmabuf(address, length))
        return register_dmabuf(*buffer, address, length, access);
    ibv_mr* const made = ibv_reg_mr(pd_.get(), address, length, access);
    if (made != nullptr) return region_handle(made);
    const int error = errno;
    // The kernel treats that right as a right to write, which constants refuse. They are registered
    // in another way, see expose.
    if (error == EFAULT && (access & IBV_ACCESS_MW_BIND) != 0) return UCS_ERR_INVALID_ADDR;
    const char* advice = "";
    if (error == ENOMEM || error == EAGAIN || error == EPERM) {
        advice = "; the limit of locked memory (ulimit -l) may be too low";
    }
    ucs::log::error(ib_log, "{}: {} bytes at {} cannot be registered: {}{}", name_, length, address,
                    std::strerror(error), advice);
    return error == EFAULT || error == EINVAL ? UCS_ERR_INVALID_ADDR : UCS_ERR_NO_MEMORY;
}

// On-demand paging works only for pages of the processor's memory.
ucs::result<region_handle> domain::register_dmabuf(const ucs::memory::dmabuf& buffer, void* address,
                                                   std::size_t length, unsigned access) noexcept {
    const auto rights = static_cast<int>(access & ~unsigned{IBV_ACCESS_ON_DEMAND});
    ibv_mr* const made = ibv_reg_dmabuf_mr(pd_.get(), buffer.offset, length,
                                           reinterpret_cast<std::uint64_t>(address),
                                           buffer.descriptor.get(), rights);
    if (made != nullptr) return region_handle(made);
    const int error = errno;
    ucs::log::error(ib_log,
                    "{}: {} bytes at {} are memory of another device that this one cannot reach{}: "
                    "{}; they are copied",
                    name_, length, address,
                    takes_dmabuf_ ? "" : ", because its driver takes no dma-buf",
                    std::strerror(error));
    return error == ENOMEM ? UCS_ERR_NO_MEMORY : UCS_ERR_INVALID_ADDR;
}

ucs::result<shared_memory> domain::share(std::span<std::byte> bytes, memory_access allowed) {
    unsigned access = IBV_ACCESS_REMOTE_READ;
    if (allowed == memory_access::change) {
        access |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
        if (has_atomics()) access |= IBV_ACCESS_REMOTE_ATOMIC;
    }
    return register_for_peer(bytes, allowed, access);
}

ucs::result<shared_memory> domain::register_for_peer(std::span<std::byte> bytes,
                                                     memory_access allowed, unsigned access) {
    auto region = register_region(bytes.data(), bytes.size(), access | access_to_all_);
    if (!region) return region.status();
    return shared_memory{bytes, key_to(bytes, (*region)->rkey, allowed),
                         std::make_shared<region_handle>(std::move(*region))};
}

// Returns nullptr if the bytes are registered for each operation. Memory of another device is
// registered by a call without windows.
memory_windows* domain::windows_for(std::span<const std::byte> bytes) const noexcept {
    memory_windows* const windows = windows_.load(std::memory_order_acquire);
    const bool is_usable = windows != nullptr && windows->are_usable() && cache_.is_caching();
    if (!is_usable || ucs::memory::find_dmabuf(bytes.data(), bytes.size())) return nullptr;
    return windows;
}

ucs::result<shared_memory> domain::expose(std::span<std::byte> bytes, memory_access allowed) {
    if (memory_windows* const windows = windows_for(bytes); windows != nullptr) {
        auto exposed = expose_window(*windows, bytes, allowed);
        if (exposed) return exposed;
    }
    return register_for_peer(bytes, allowed,
                             kept_rights(allowed, memory_user::own) | exposed_rights(allowed));
}

ucs::result<shared_memory> domain::expose_window(memory_windows& windows,
                                                 std::span<std::byte> bytes,
                                                 memory_access allowed) {
    auto held = cache_.get(bytes.data(), bytes.size(), kept_rights(allowed, memory_user::peer));
    if (!held) return held.status();
    auto& region = *static_cast<ibv_mr*>(held->handle());
    auto bound = windows.bind(region, bytes, exposed_rights(allowed));
    if (!bound) return bound.status();
    struct both {
        ucs::memory::registration region;
        memory_windows::binding window;  // goes first
    };
    auto keys = key_to(bytes, bound->key(), allowed);
    return shared_memory{bytes, std::move(keys),
                         std::shared_ptr<both>(new both{std::move(*held), std::move(*bound)})};
}

void domain::use_windows(memory_windows::queues made) noexcept {
    const std::scoped_lock guard(windows_lock_);
    if (windows_owner_ != nullptr) return;
    windows_owner_.reset(new (std::nothrow) memory_windows(name_.c_str(), *pd_, std::move(made)));
    windows_.store(windows_owner_.get(), std::memory_order_release);
}

ucs_status_t domain::prepare(std::span<const std::byte> bytes, memory_access access) noexcept {
    if (!cache_.is_caching()) return UCS_OK;
    return use(bytes.data(), bytes.size(), access).status();
}

preparation domain::preparation_of(std::span<const std::byte> bytes, memory_access access,
                                   memory_user user) noexcept {
    const bool is_kept =
        user == memory_user::own ? cache_.is_caching() : windows_for(bytes) != nullptr;
    if (!is_kept) return {price_.of(bytes.size()), false};
    if (cache_.holds(bytes.data(), bytes.size(), kept_rights(access, user))) return {};
    return {price_.of(bytes.size())};
}

ucs::result<shared_memory> domain::allocate(std::size_t length) {
    auto pages = ucs::memory::mapped::anonymous(length);
    if (!pages) return pages.status();
    // The device's atomic operations work on words of 8 bytes.
    const std::size_t words = (length + 7) & ~std::size_t{7};
    auto made = share(pages->bytes().first(words), memory_access::change);
    if (!made) return made.status();
    struct both {
        ucs::memory::mapped pages;
        std::shared_ptr<const void> region;  // goes first
    };
    made->bytes = made->bytes.first(length);
    made->keeper = std::shared_ptr<both>(new both{std::move(*pages), std::move(made->keeper)});
    return std::move(*made);
}

ucs::result<std::unique_ptr<remote_memory>> domain::attach(std::span<const std::byte> key,
                                                           memory_access wanted) {
    const auto known = memory_key::parse(key);
    if (!known) {
        rejected_.error(ib_log, "{}: a key to a peer's memory is malformed, or of another version",
                        name_);
        return UCS_ERR_INVALID_PARAM;
    }
    return std::unique_ptr<remote_memory>(
        std::make_unique<remote_region>(*known, std::min(wanted, known->allowed)));
}

ucs::result<local_region> domain::use(const void* address, std::size_t length,
                                      memory_access access) noexcept {
    try {
        auto held = cache_.get(address, length, kept_rights(access, memory_user::own));
        if (!held) return held.status();
        return local_region(std::move(*held));
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
}

void domain::describe(ucs::vfs::directory& into) const {
    into.file("device", [this] { return name_; });
    into.file("firmware", [this] { return std::string(attr_.fw_ver); });
    into.file("pages",
              [this] { return std::string(access_to_all_ == 0 ? "pinned" : "fetched on demand"); });
    into.file("dmabuf", [this] { return std::string(takes_dmabuf_ ? "yes" : "no"); });
    into.file("memory_windows", [this] {
        const memory_windows* const windows = windows_.load(std::memory_order_acquire);
        return std::string(windows != nullptr && windows->are_usable() ? "yes" : "no");
    });
    into.file("atomics", [this] {
        return std::string(attr_.atomic_cap == IBV_ATOMIC_NONE  ? "none"
                           : attr_.atomic_cap == IBV_ATOMIC_HCA ? "of this device"
                                                                : "of the whole host");
    });
    into.file("registration_price", [this] { return price_.text(); });
    into.folder("registrations", [this](ucs::vfs::directory& cache) { cache_.describe(cache); });
}

}  // namespace uct::ib
