#include "ucs/memory/device_memory.hpp"

#include <array>
#include <mutex>

#include "ucs/memory/unmap_watch.hpp"

namespace ucs::memory {
namespace {

struct watch_state {
    std::once_flag begun;
    unmap_watch unmapped;
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

void begin_watching() noexcept {
    const cuda::driver_functions* const driver = cuda::load_driver();
    if (driver == nullptr) return;
    static const end_of_watch at_exit;
    watching().remembers_pages = watching().unmapped.start(on_unmapped, nullptr) == UCS_OK;
    const bool notices_allocations =
        ucm_set_event_handler(UCM_EVENT_MEM_TYPE_ALLOC, 0, on_device_allocation, nullptr) == UCS_OK;
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

void watch_device_memory() noexcept {
    std::call_once(watching().begun, begin_watching);
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
    if (driver == nullptr) return {};
    const std::uint64_t number = known_host_pages.begin_query();
    const memory_at found = query(*driver, address);
    const bool is_host = found.is_known && !found.device;
    if (is_host && watching().remembers_pages.load(std::memory_order_relaxed))
        known_host_pages.add(address, number);
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
