// Memory that stays registered for its next use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "ucm/api/ucm.h"
#include "ucs/memory/region_set.hpp"
#include "ucs/memory/registrar.hpp"
#include "ucs/stats/counters.hpp"
#include "ucs/sys/fork_watch.hpp"
#include "ucs/type/result.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucs::memory {

class registration_cache;

// The right to use a registration, which lasts for as long as this lives. Move only. Any thread,
// one at a time; the cache must live longer.
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

    // What the registrar returned.
    [[nodiscard]] void* handle() const noexcept { return region_->handle; }

    // What is registered: at least the memory that was asked for, with at least that access.
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
    merges,         // registrations that took the place of others, to join or to extend them
    evictions,      // because of the bounds, or because the registrar had no room
    invalidations,  // because memory went away
    failures,       // of the registrar
};

}  // namespace ucs::memory

template<>
inline constexpr auto ucs::stats::names<ucs::memory::registration_count> =
    std::to_array<std::string_view>({"hits", "misses", "merges", "evictions", "invalidations",
                                     "failures"});

namespace ucs::memory {

// Registers memory on demand and keeps it registered after use, until its room is needed or the
// memory goes away. One per protection domain or whatever registers. Any thread.
//
// Memory events come in any thread, in the middle of the allocator, perhaps while this thread is in
// the cache. So nothing is allocated, freed, registered or deregistered under the lock, and an
// event only takes regions out of the set; they are deregistered by the next call.
class registration_cache {
public:
    static constexpr std::size_t unlimited = ~std::size_t{0};

    struct settings {
        bool enable = true;                   // false: register for each use
        std::size_t max_regions = unlimited;  // how many are kept; those in use may be more
        std::size_t max_bytes = unlimited;    // how much memory is kept registered, likewise
    };

    // Where memory events are not to be had, it registers for each use and says so in the log.
    registration_cache(registrar& owner, std::string name, const settings& wanted);
    ~registration_cache();
    registration_cache(const registration_cache&) = delete;
    registration_cache& operator=(const registration_cache&) = delete;

    // UCS_ERR_INVALID_PARAM for an empty range, UCS_ERR_NO_MEMORY, or what the registrar says.
    result<registration> get(const void* address, std::size_t length, unsigned access);

    // Whether `get` would find it without registering anything. Asking is no use of it.
    [[nodiscard]] bool holds(const void* address, std::size_t length, unsigned access) noexcept;

    // Deregisters what went away since the last call. Every other call does that, too; this is for
    // those who make none for long.
    void collect() noexcept;

    // Deregisters everything that nobody uses. Returns whether there was something.
    bool purge() noexcept;

    // False: each use registers.
    [[nodiscard]] bool is_caching() const noexcept { return caching_; }

    // Regions that can be found, and their bytes.
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
    void invalidate(const address_range& gone) noexcept;

    // The way of a new region: its range is chosen, it is registered, it goes into the set.
    result<registration> add(const address_range& asked, unsigned access);
    region* begin(region& fresh, const address_range& asked, unsigned access, scope how) noexcept;
    void merge(region& fresh) noexcept;
    [[nodiscard]] bool withdraw(region& failed, ucs_status_t why, scope& how) noexcept;
    region* finish(region& fresh, const address_range& asked, unsigned access,
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

    mutable std::mutex lock_;
    region_set set_;
    region_list pending_;        // being registered
    region_list gone_;           // not in the set any more, nobody uses them
    std::uint64_t process_ = 0;  // counts forks: what is older belongs to a parent
    stats::counters<registration_count> counters_;
    sys::fork_watch fork_watch_;
};

inline void registration::reset() noexcept {
    if (region_ != nullptr) cache_->release(*std::exchange(region_, nullptr));
}

}  // namespace ucs::memory
