#include "ucp/mem/memory_table.hpp"

#include <algorithm>
#include <new>

#include "ucs/random/random_bytes.hpp"

namespace ucp::mem {

memory_table::~memory_table() {
    memories_.for_each([](std::uint64_t, memory* left) { delete left; });
}

ucs::result<memory*> memory_table::add(std::unique_ptr<memory> fresh) {
    // Devices allow every peer that may write to read as well.
    if (devices_ != nullptr && fresh->length() > 0 && (fresh->allowed() & may_read) != 0) {
        const bool writable = (fresh->allowed() & may_write) != 0;
        fresh->on_devices_ =
            devices_->share({fresh->base(), fresh->length()},
                            writable ? uct::memory_access::change : uct::memory_access::read);
    }
    const std::lock_guard guard(lock_);
    fresh->owner_ = {memories_.add(fresh.get()), ucs::sys::random_id()};
    if (fresh->owner_.id == 0) return UCS_ERR_NO_MEMORY;
    return fresh.release();
}

void memory_table::remove(memory& gone) {
    const std::unique_ptr<memory> owned(&gone);
    std::unique_lock guard(lock_);
    memories_.remove(gone.owner_.id);
    while (is_in_use(gone)) {
        guard.unlock();
        std::this_thread::yield();
        guard.lock();
    }
}

// A worker on this thread does not count: it is in a callback of the program, and validates the
// memory again afterwards.
bool memory_table::is_in_use(const memory& gone) const noexcept {
    return std::ranges::any_of(accessors_, [&](const memory_accessor* each) {
        return each->inside_.load(std::memory_order_acquire) == &gone &&
               each->thread_ != std::this_thread::get_id();
    });
}

memory_table::found memory_table::find(const access_request& request) noexcept {
    memory* const* known = memories_.find(request.owner.id);
    if (known == nullptr || (*known)->owner().secret != request.owner.secret ||
        !within((*known)->address(), (*known)->length(), request.address, request.length)) {
        return {nullptr, UCS_ERR_INVALID_ADDR};
    }
    if (((*known)->allowed() & request.wanted) != request.wanted)
        return {nullptr, UCS_ERR_REJECTED};
    return {*known, UCS_OK};
}

memory_table::window memory_table::open_window(const key& remote) {
    const std::lock_guard guard(lock_);
    if (const memory* own = find_own(remote); own != nullptr) return window_of(*own);
    if (!shares_memory_) return {nullptr, nullptr, "UCX_TLS excludes posix"};
    return map_block(remote);
}

memory_table::window memory_table::import(const key& remote) {
    const std::lock_guard guard(lock_);
    if (const memory* own = find_own(remote); own != nullptr) return window_of(*own);
    return map_block(remote);
}

memory_table::window memory_table::window_of(const memory& own) {
    if (own.is_on_device()) return {nullptr, nullptr, "it is memory of a device"};
    return {own.base(), own.block(), {}};
}

const memory* memory_table::find_own(const key& remote) noexcept {
    memory* const* own = memories_.find(remote.owner.id);
    return own != nullptr && (*own)->is_named_by(remote) ? *own : nullptr;
}

memory_table::window memory_table::map_block(const key& remote) {
    if (remote.block.empty())
        return {nullptr, nullptr, "it is the program's own memory, not an allocated block"};
    const block_key name{remote.block.tag, (remote.allowed & may_write) != 0};
    const auto known = blocks_.find(name);
    if (known != blocks_.end()) {
        auto block = known->second.lock();
        if (block != nullptr && block->name() == remote.block && block->length() == remote.length) {
            std::byte* base = block->base();
            return {base, std::move(block), {}};
        }
    }
    auto made = uct::sm::shared_block::attach(remote.block, remote.length, name.writable);
    if (made.block == nullptr) return {nullptr, nullptr, std::move(made.reason)};
    prune();
    blocks_[name] = made.block;
    std::byte* base = made.block->base();
    return {base, std::move(made.block), {}};
}

void memory_table::prune() {
    if (blocks_.size() < prune_at_) return;
    std::erase_if(blocks_, [](const auto& each) { return each.second.expired(); });
    prune_at_ = std::max<std::size_t>(16, 2 * blocks_.size());
}

std::size_t memory_table::size() const {
    const std::lock_guard guard(lock_);
    return memories_.size();
}

memory_accessor::memory_accessor(memory_table& table) : table_(table) {
    const std::lock_guard guard(table_.lock_);
    table_.accessors_.push_back(this);
}

memory_accessor::~memory_accessor() {
    const std::lock_guard guard(table_.lock_);
    std::erase(table_.accessors_, this);
}

memory_accessor::entry memory_accessor::enter(const access_request& request) noexcept {
    leave();  // leaves the memory that it was inside before it waits for the lock
    const std::lock_guard guard(table_.lock_);
    const memory_table::found found = table_.find(request);
    thread_ = std::this_thread::get_id();
    inside_.store(found.memory_found, std::memory_order_relaxed);
    if (found.memory_found == nullptr) return {nullptr, found.status};
    const memory& entered = *found.memory_found;
    return {entered.base() + (request.address - entered.address()), UCS_OK, entered.is_on_device()};
}

}  // namespace ucp::mem
