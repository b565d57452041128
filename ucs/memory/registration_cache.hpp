// A cache of memory registrations: memory stays registered for its next use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "ucs/memory/region_set.hpp"
#include "ucs/memory/unmap_watch.hpp"
#include "ucs/stats/counters.hpp"
#include "ucs/sys/fork_watch.hpp"
#include "ucs/type/result.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucs::memory {

// Registers memory ranges with a device, which then accesses them without the processor. The
// registration cache calls it, from several threads concurrently and without holding a lock. It
// must not fork, and must not call the cache. If memory is unmapped during its registration, the
// registrar returns an error or a registration of the memory that was mapped.
class registrar {
public:
    // Registers a range of whole pages. `access` is a mask that the registrar defines. Returns a
    // handle for the registrar itself and for the users of the registration.
    virtual result<void*> register_memory(void* begin, std::size_t length, unsigned access) = 0;

    virtual void deregister_memory(void* handle) noexcept = 0;

protected:
    ~registrar() = default;
};

class registration_cache;

// A reference to a registration, which keeps it usable. Move only. Any thread, one at a time; the
// cache must live longer.
class registration {
public:
    registration() noexcept = default;
    registration(registration&& other) noexcept
        : cache_(std::exchange(other.cache_, nullptr)),
          region_(std::exchange(other.region_, nullptr)) {}
    registration& operator=(registration&& other) noexcept {
        if (this != &other) {
            reset();
            cache_ = std::exchange(other.cache_, nullptr);
            region_ = std::exchange(other.region_, nullptr);
        }
        return *this;
    }
    ~registration() { reset(); }

    void reset() noexcept;
    explicit operator bool() const noexcept { return region_ != nullptr; }

    // The handle that the registrar returned.
    [[nodiscard]] void* handle() const noexcept { return region_->handle; }

    // The registered range and access: at least those that were requested.
    [[nodiscard]] const address_range& range() const noexcept { return region_->range; }
    [[nodiscard]] unsigned access() const noexcept { return region_->access; }

private:
    friend class registration_cache;
    registration(registration_cache& cache, region& which) noexcept
        : cache_(&cache), region_(&which) {}

    registration_cache* cache_ = nullptr;
    region* region_ = nullptr;
};

enum class registration_count {
    hits,
    misses,
    merges,         // registrations that replaced others, to join or to extend them
    evictions,      // because of the limits, or because the registrar was out of resources
    invalidations,  // because memory was unmapped
    failures,       // of the registrar
};

}  // namespace ucs::memory

template<>
inline constexpr auto ucs::stats::names<ucs::memory::registration_count> =
    std::to_array<std::string_view>({"hits", "misses", "merges", "evictions", "invalidations",
                                     "failures"});

namespace ucs::memory {

// Registers memory on demand and keeps it registered after use, until its resources are needed or
// the memory is unmapped. One cache per protection domain or other registrar. Any thread.
//
// Memory events arrive in any thread, in the middle of the allocator, possibly while this thread is
// inside the cache. So the cache does not allocate, free, register or deregister under its lock,
// and an event only removes regions from the set. The next call deregisters them.
class registration_cache {
public:
    static constexpr std::size_t unlimited = ~std::size_t{0};

    struct settings {
        bool enable = true;                   // false: register for each use
        std::size_t max_regions = unlimited;  // limit of cached regions; more may be in use
        std::size_t max_bytes = unlimited;    // limit of cached bytes; more may be in use
    };

    // If memory events are not available, the cache registers for each use and logs a warning.
    registration_cache(registrar& owner, std::string name, const settings& new_settings);
    ~registration_cache();
    registration_cache(const registration_cache&) = delete;
    registration_cache& operator=(const registration_cache&) = delete;

    // Returns a registration of the range. Errors: UCS_ERR_INVALID_PARAM for an empty range,
    // UCS_ERR_NO_MEMORY, or the registrar's error.
    result<registration> get(const void* address, std::size_t length, unsigned access);

    // Returns whether get() would find the range in the cache. Does not count as a use of the
    // region.
    [[nodiscard]] bool holds(const void* address, std::size_t length, unsigned access) noexcept;

    // Deregisters memory that was unmapped since the last call. Every other call does that, too;
    // this one is for callers that make no other call for a long time.
    void collect() noexcept;

    // Deregisters all unused regions. Returns whether there were any.
    bool purge() noexcept;

    // Returns false if each use registers.
    [[nodiscard]] bool is_caching() const noexcept { return caching_; }

    // The number of cached regions, and their bytes.
    [[nodiscard]] std::size_t regions() const noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] std::uint64_t count(registration_count which) const noexcept {
        return counters_[which].get();
    }

    void describe(vfs::directory& into) const;

private:
    friend class registration;

    enum class scope { merged, alone };

    [[nodiscard]] bool start_events() noexcept;
    static void on_unmapped(ucm_event_type_t type, ucm_event_t* event, void* cache) noexcept;
    static void on_fork(void* object) noexcept;
    void invalidate(const address_range& unmapped) noexcept;

    // The steps to add a region: begin() chooses its range, the registrar registers it, finish()
    // adds it to the set.
    result<registration> add(const address_range& requested, unsigned access);
    region* begin(region& fresh, const address_range& requested, unsigned access,
                  scope extent) noexcept;
    void merge(region& fresh) noexcept;
    [[nodiscard]] bool withdraw(region& failed, ucs_status_t why, scope& extent) noexcept;
    region* finish(region& fresh, const address_range& requested, unsigned access,
                   bool last_try) noexcept;

    void keep(region& fresh, region_list& doomed) noexcept;
    void release(region& used) noexcept;
    void evict_surplus(region_list& doomed) noexcept;
    void dispose(region_list& doomed) noexcept;
    [[nodiscard]] std::string sizes() const;

    registrar& registrar_;
    const std::string name_;
    const settings settings_;
    bool caching_ = false;
    unmap_watch unmapped_events_;

    mutable std::mutex lock_;
    region_set set_;
    region_list pending_;        // being registered
    region_list unmapped_;       // removed from the set, and unused
    std::uint64_t process_ = 0;  // counts forks: regions with a lower number belong to a parent
    stats::counters<registration_count> counters_;
    sys::fork_watch fork_watch_;
};

inline void registration::reset() noexcept {
    if (region_ != nullptr) cache_->release(*std::exchange(region_, nullptr));
}

}  // namespace ucs::memory
