#include "ucs/memory/device_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "ucs/memory/copy_any.hpp"
#include "ucs/memory/unmap_watch.hpp"

namespace ucs::memory {
namespace {

struct watch_state {
    std::once_flag begun;
    unmap_watch unmapped;
    std::mutex lock;
    unsigned users = 0;
    // Pages are remembered only if unmapped memory is noticed.
    std::atomic<bool> remembers_pages{false};
};

// Never destroyed: threads may send messages while the process ends.
watch_state& watching() noexcept {
    alignas(watch_state) static std::byte storage[sizeof(watch_state)];
    static watch_state& only = *new (storage) watch_state;
    return only;
}

void on_unmapped(ucm_event_type_t, ucm_event_t* event, void*) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(event->vm_unmapped.address);
    detail::known_host_pages.remove({begin, begin + event->vm_unmapped.size});
}

void on_device_allocation(ucm_event_type_t, ucm_event_t*, void*) noexcept {
    detail::has_device_memory.store(true, std::memory_order_relaxed);
}

// Returns false if an access would end the process. Reserved addresses of a device are mapped
// without access, so only an access tells. If the system does not permit the attempt, true is
// returned.
bool is_readable(const void* address) noexcept {
    std::byte seen;
    iovec into{&seen, sizeof seen};
    iovec from{const_cast<void*>(address), sizeof seen};
    return ::process_vm_readv(::getpid(), &into, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

// Ends the watch when this library is unloaded or the process ends.
struct end_of_watch {
    ~end_of_watch() {
        ucm_unset_event_handler(UCM_EVENT_MEM_TYPE_ALLOC, on_device_allocation, nullptr);
        watching().remembers_pages = false;
        watching().unmapped.stop();
        detail::known_host_pages.remove({0, ~std::uintptr_t{0}});
    }
};

bool is_in_use(const cuda::driver_functions& driver) noexcept {
    cuda::CUcontext current = nullptr;
    return driver.cuCtxGetCurrent(&current) != cuda::CUDA_ERROR_NOT_INITIALIZED;
}

// Returns false if allocations are not noticed. The libucm of another library may accept the
// handler without ever calling it, so what counts is whether the code of the driver was changed. If
// it was changed for another copy of this code before, the answer is false, which only costs time.
bool watch_allocations(const cuda::driver_functions& driver) noexcept {
    constexpr std::size_t looked_at = 32;  // bytes; replaced functions jump away within them
    std::array<std::byte, looked_at> before;
    const auto* const code = reinterpret_cast<const std::byte*>(driver.cuMemAlloc_v2);
    std::memcpy(before.data(), code, looked_at);
    return ucm_set_event_handler(UCM_EVENT_MEM_TYPE_ALLOC, 0, on_device_allocation, nullptr) ==
               UCS_OK &&
           std::memcmp(before.data(), code, looked_at) != 0;
}

void begin_watching() noexcept {
    const cuda::driver_functions* const driver = cuda::load_driver();
    if (driver == nullptr) return;
    static const end_of_watch at_exit;
    watching().remembers_pages = watching().unmapped.start(on_unmapped, nullptr) == UCS_OK;
    const bool notices_allocations = watch_allocations(*driver);
    // Memory may have been allocated before.
    if (!notices_allocations || is_in_use(*driver)) expect_device_memory();
}

// The allocations that a thread has used last.
class recent_allocations {
public:
    [[nodiscard]] const cuda::device_memory* find(const void* address) const noexcept {
        for (const cuda::device_memory& each : known_) {
            if (each.length != 0 && each.contains(address, 1)) return &each;
        }
        return nullptr;
    }
    void add(const cuda::device_memory& fresh) noexcept {
        known_[next_] = fresh;
        next_ = (next_ + 1) % known_.size();
    }
    void drop(const cuda::device_memory& outdated) noexcept {
        known_[static_cast<std::size_t>(&outdated - known_.data())] = {};
    }

private:
    std::array<cuda::device_memory, 4> known_{};
    std::size_t next_ = 0;
};

constinit thread_local recent_allocations recent;

}  // namespace

device_memory_user::device_memory_user() noexcept {
    {
        const std::lock_guard guard(watching().lock);
        ++watching().users;
    }
    std::call_once(watching().begun, begin_watching);
}

device_memory_user::~device_memory_user() {
    const std::lock_guard guard(watching().lock);
    if (--watching().users == 0) detail::release_copy_resources();
}

void expect_device_memory() noexcept {
    detail::has_device_memory.store(true, std::memory_order_relaxed);
}

namespace {

memory_at query(const cuda::driver_functions& driver, const void* address) noexcept {
    if (const cuda::device_memory* known = recent.find(address); known != nullptr) {
        if (cuda::query_buffer_id(driver, address) == known->buffer_id) return {*known};
        recent.drop(*known);
    }
    cuda::CUresult outcome{};
    const std::optional<cuda::device_memory> found = cuda::query_pointer(driver, address, &outcome);
    // A new mapping of reserved addresses may keep the id: such memory, which no context owns, is
    // not remembered.
    if (found && found->context != nullptr && found->buffer_id != 0) recent.add(*found);
    const bool has_devices =
        outcome != cuda::CUDA_ERROR_NOT_INITIALIZED && outcome != cuda::CUDA_ERROR_DEINITIALIZED;
    return {found, outcome == cuda::CUDA_SUCCESS || !has_devices};
}

}  // namespace

memory_at detail::ask_driver(const void* address) noexcept {
    const cuda::driver_functions* const driver = cuda::loaded_driver();
    if (driver == nullptr || address == nullptr) return {};
    const std::uint64_t number = known_host_pages.begin_query();
    memory_at found = query(*driver, address);
    if (found.device) return found;
    // If the driver refuses to tell, because a device is lost, what the processor can read counts
    // as the host's, for this time.
    const bool is_remembered = found.is_known && watching().remembers_pages.load();
    found.is_known = is_readable(address);
    if (found.is_known && is_remembered) known_host_pages.add(address, number);
    return found;
}

bool detail::ask_whether_host(const void* address) noexcept {
    const memory_at found = ask_driver(address);
    return found.is_known && !found.device;
}

std::optional<cuda::device_memory> find_device_memory(const void* address) noexcept {
    const cuda::driver_functions* const driver = cuda::loaded_driver();
    return driver == nullptr ? std::nullopt : query(*driver, address).device;
}

ucs_memory_type_t type_of(const void* address) noexcept {
    if (is_host(address)) return UCS_MEMORY_TYPE_HOST;
    const auto found = find_device_memory(address);
    return found ? found->type : UCS_MEMORY_TYPE_HOST;
}

}  // namespace ucs::memory
