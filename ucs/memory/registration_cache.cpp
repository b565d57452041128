#include "ucs/memory/registration_cache.hpp"

#include <new>

#include "ucs/config/once.hpp"
#include "ucs/log/log.hpp"
#include "ucs/memory/mapped.hpp"

namespace ucs::memory {
namespace {

constinit log::component self{"ucs.memory"};

// The limit of attempts when the memory is unmapped during its registration, or other threads use
// up the resources that were freed. A program that exceeds it uses memory that it frees.
constexpr int most_tries = 8;

address_range whole_pages(const address_range& range) noexcept {
    const std::uintptr_t mask = page_size() - 1;
    return {range.begin & ~mask, (range.end + mask) & ~mask};
}

}  // namespace

registration_cache::registration_cache(registrar& owner, std::string name,
                                       const settings& new_settings)
    : registrar_(owner),
      name_(std::move(name)),
      settings_(new_settings),
      fork_watch_(on_fork, this) {
    caching_ = settings_.enable && start_events();
}

registration_cache::~registration_cache() {
    unmapped_events_.stop();
    purge();
    collect();
    if (set_.count() != 0) {
        log::warn(self, "registration cache {}: {} regions are still in use at its end", name_,
                  set_.count());
    }
}

bool registration_cache::start_events() noexcept {
    const ucs_status_t status = unmapped_events_.start(on_unmapped, this);
    if (status == UCS_OK) return true;
    if (config::first_time("registration cache without events")) {
        log::warn(self,
                  "registration cache {}: unmapped memory cannot be detected in this process "
                  "({}), so memory is registered for each use",
                  name_, ucs_status_string(status));
    }
    return false;
}

result<registration> registration_cache::get(const void* address, std::size_t length,
                                             unsigned access) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const address_range requested{begin, begin + length};
    if (length == 0 || requested.end < begin || requested.end > ~std::uintptr_t{0} - page_size()) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (caching_) [[likely]] {
        std::unique_lock guard(lock_);
        if (region* found = set_.find(requested, access); found != nullptr) [[likely]] {
            set_.add_user(*found);
            counters_[registration_count::hits].add();
            const bool clean = unmapped_.empty();
            guard.unlock();
            if (!clean) collect();
            return registration(*this, *found);
        }
    }
    return add(requested, access);
}

bool registration_cache::holds(const void* address, std::size_t length, unsigned access) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard guard(lock_);
    return caching_ && set_.find({begin, begin + length}, access) != nullptr;
}

result<registration> registration_cache::add(const address_range& requested, unsigned access) {
    collect();
    auto* const fresh = new (std::nothrow) region;
    if (fresh == nullptr) return UCS_ERR_NO_MEMORY;
    scope extent = scope::merged;
    for (int tries = 1;; ++tries) {
        if (region* found = begin(*fresh, requested, access, extent); found != nullptr) {
            delete fresh;
            return registration(*this, *found);
        }
        const result<void*> handle = registrar_.register_memory(
            reinterpret_cast<void*>(fresh->range.begin), fresh->range.size(), fresh->access);
        if (!handle) {
            if (withdraw(*fresh, handle.status(), extent) && tries < most_tries) continue;
            delete fresh;
            return handle.status();
        }
        fresh->handle = *handle;
        region* const usable = finish(*fresh, requested, access, tries == most_tries);
        if (usable == nullptr) continue;
        collect();
        return registration(*this, *usable);
    }
}

// Returns a region that another thread has registered meanwhile. Otherwise prepares `fresh` for its
// registration and returns nullptr.
region* registration_cache::begin(region& fresh, const address_range& requested, unsigned access,
                                  scope extent) noexcept {
    const std::lock_guard guard(lock_);
    if (caching_) {
        if (region* found = set_.find(requested, access); found != nullptr) {
            set_.add_user(*found);
            counters_[registration_count::hits].add();
            return found;
        }
    }
    fresh = region{};
    fresh.requested = fresh.range = whole_pages(requested);
    fresh.access = access;
    fresh.process = process_;
    if (!caching_) return nullptr;
    if (extent == scope::merged) merge(fresh);
    pending_.push_back(fresh);
    return nullptr;
}

// Extends a region over the cached regions that it overlaps.
void registration_cache::merge(region& fresh) noexcept {
    address_range all = fresh.range;
    unsigned access = fresh.access;
    address_range rest = fresh.range;
    for (const region* other = set_.first_overlapping(rest); other != nullptr;
         other = rest.begin < rest.end ? set_.first_overlapping(rest) : nullptr) {
        all = all.together_with(other->range);
        access |= other->access;
        rest.begin = other->range.end;
    }
    if (all.size() > settings_.max_bytes) return;  // the merged region could not be cached
    fresh.range = all;
    fresh.access = access;
}

// Handles a failure of the registrar. Returns whether another attempt makes sense.
bool registration_cache::withdraw(region& failed, ucs_status_t why, scope& extent) noexcept {
    {
        const std::lock_guard guard(lock_);
        if (caching_) pending_.erase(region_list::s_iterator_to(failed));
        counters_[registration_count::failures].add();
    }
    // The memory of the merged regions may be unmapped by now, or may not permit the requested
    // access. Try the requested range alone.
    const bool was_merged = extent == scope::merged;
    extent = scope::alone;
    const bool was_larger = failed.range.size() != failed.requested.size();
    if (was_merged && caching_ && was_larger) return true;
    return why == UCS_ERR_NO_MEMORY && purge();
}

// Adds a registered region to the set. Returns the region to use; nullptr if the requested memory
// was unmapped meanwhile, so that the caller should register again.
region* registration_cache::finish(region& fresh, const address_range& requested, unsigned access,
                                   bool last_try) noexcept {
    region_list doomed;
    region* usable = &fresh;
    {
        const std::lock_guard guard(lock_);
        if (caching_) pending_.erase(region_list::s_iterator_to(fresh));
        if (fresh.requested_is_unmapped && !last_try) {
            usable = nullptr;
        } else if (region* found = caching_ ? set_.find(requested, access) : nullptr;
                   found != nullptr) {
            set_.add_user(*found);
            counters_[registration_count::hits].add();
            doomed.push_back(fresh);
            usable = found;
        } else {
            counters_[registration_count::misses].add();
            fresh.users = 1;
            if (caching_ && !fresh.range_is_unmapped) keep(fresh, doomed);
        }
    }
    if (usable == nullptr) registrar_.deregister_memory(fresh.handle);
    dispose(doomed);
    return usable;
}

void registration_cache::keep(region& fresh, region_list& doomed) noexcept {
    bool merged = false;
    while (region* other = set_.first_overlapping(fresh.range)) {
        set_.remove(*other);
        if (other->users == 0) doomed.push_back(*other);
        merged = true;
    }
    if (merged) counters_[registration_count::merges].add();
    set_.insert(fresh);
    evict_surplus(doomed);
}

void registration_cache::release(region& used) noexcept {
    region_list doomed;
    {
        const std::lock_guard guard(lock_);
        if (used.is_cached && used.process == process_) {
            set_.remove_user(used);
            evict_surplus(doomed);
        } else if (--used.users == 0) {
            doomed.push_back(used);
        }
        doomed.splice(doomed.end(), unmapped_);
    }
    dispose(doomed);
}

void registration_cache::evict_surplus(region_list& doomed) noexcept {
    while (set_.count() > settings_.max_regions || set_.bytes() > settings_.max_bytes) {
        region* oldest = set_.oldest_unused();
        if (oldest == nullptr) return;
        set_.remove(*oldest);
        doomed.push_back(*oldest);
        counters_[registration_count::evictions].add();
    }
}

void registration_cache::dispose(region_list& doomed) noexcept {
    while (!doomed.empty()) {
        region& one = doomed.front();
        doomed.pop_front();
        if (one.process == process_) registrar_.deregister_memory(one.handle);
        delete &one;
    }
}

void registration_cache::collect() noexcept {
    region_list doomed;
    {
        const std::lock_guard guard(lock_);
        doomed.swap(unmapped_);
    }
    dispose(doomed);
}

bool registration_cache::purge() noexcept {
    region_list doomed;
    {
        const std::lock_guard guard(lock_);
        while (region* unused = set_.oldest_unused()) {
            set_.remove(*unused);
            doomed.push_back(*unused);
            counters_[registration_count::evictions].add();
        }
    }
    const bool any = !doomed.empty();
    dispose(doomed);
    return any;
}

// Called in the middle of the call that unmaps memory: see the comment of the class.
void registration_cache::on_unmapped(ucm_event_type_t, ucm_event_t* event, void* cache) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(event->vm_unmapped.address);
    const std::uintptr_t end = begin + event->vm_unmapped.size;
    static_cast<registration_cache*>(cache)->invalidate(whole_pages({begin, end}));
}

void registration_cache::invalidate(const address_range& unmapped) noexcept {
    const std::lock_guard guard(lock_);
    while (region* one = set_.first_overlapping(unmapped)) {
        set_.remove(*one);
        if (one->users == 0) unmapped_.push_back(*one);
        counters_[registration_count::invalidations].add();
    }
    for (region& one : pending_) {
        one.range_is_unmapped = one.range_is_unmapped || one.range.overlaps(unmapped);
        one.requested_is_unmapped = one.requested_is_unmapped || one.requested.overlaps(unmapped);
    }
}

// Registrations of the parent belong to the parent: the child must not find, use or deregister
// them. Another thread may have been changing the set during the fork, so the child abandons it.
void registration_cache::on_fork(void* object) noexcept {
    auto& cache = *static_cast<registration_cache*>(object);
    new (&cache.lock_) std::mutex;
    new (&cache.set_) region_set;
    new (&cache.pending_) region_list;
    new (&cache.unmapped_) region_list;
    ++cache.process_;
}

std::size_t registration_cache::regions() const noexcept {
    const std::lock_guard guard(lock_);
    return set_.count();
}

std::size_t registration_cache::bytes() const noexcept {
    const std::lock_guard guard(lock_);
    return set_.bytes();
}

}  // namespace ucs::memory
