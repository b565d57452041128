// Table of all memory that is registered with a context.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "ucp/mem/memory.hpp"
#include "ucs/datastruct/id_table.hpp"
#include "ucs/type/result.hpp"

namespace ucp::mem {

class memory_accessor;

// A peer's request to access memory that it names by a key.
struct access_request {
    credentials owner;
    std::uint64_t address;
    std::uint64_t length;
    std::uint8_t wanted;  // access
};

// Owns the registered memory. Any thread: it has its own lock.
class memory_table {
public:
    // Blocks of other processes are mapped for the program's keys only if shared memory is among
    // the transports that it selected.
    explicit memory_table(bool shares_memory = true, device_domains* devices = nullptr) noexcept
        : shares_memory_(shares_memory), devices_(devices) {}
    ~memory_table();
    memory_table(const memory_table&) = delete;
    memory_table& operator=(const memory_table&) = delete;

    // Adds the memory, gives it an id, and shares it on all devices. May return UCS_ERR_NO_MEMORY.
    ucs::result<memory*> add(std::unique_ptr<memory> fresh);

    // Ends a registration. When this returns, peers cannot find the memory any more, and no worker
    // accesses it for them.
    void remove(memory& gone);

    // Access to a peer's memory by loads and stores in this process.
    struct window {
        std::byte* base = nullptr;  // nullptr: the memory cannot be mapped
        // keeps the memory mapped; empty for the program's own memory
        memory::block_pointer keeper;
        std::string reason;
    };
    // Finds memory of this context, or maps a block of another process of this host if it is not
    // mapped yet.
    window open_window(const key& remote);
    // Like open_window, for exported memory that the program imports.
    window import(const key& remote);

    [[nodiscard]] std::size_t size() const;
    // Returns nullptr if there are no devices.
    [[nodiscard]] device_domains* devices() const noexcept { return devices_; }

private:
    friend class memory_accessor;
    struct found {
        const memory* memory_found;
        ucs_status_t status;
    };
    [[nodiscard]] found find(const access_request& request) noexcept;
    // Returns true if a worker on another thread is inside this memory. The caller holds the lock.
    [[nodiscard]] bool is_in_use(const memory& gone) const noexcept;
    [[nodiscard]] const memory* find_own(const key& remote) noexcept;
    [[nodiscard]] static window window_of(const memory& own);
    window map_block(const key& remote);
    void prune();

    const bool shares_memory_;
    device_domains* const devices_;
    mutable std::mutex lock_;
    ucs::datastruct::id_table<memory*> memories_;
    std::vector<memory_accessor*> accessors_;
    // Mapped blocks of other processes, by tag and writability; shared by all keys to them.
    struct block_key {
        std::uint64_t tag;
        bool writable;
        friend bool operator==(const block_key&, const block_key&) = default;
    };
    struct hash {
        std::size_t operator()(const block_key& key) const noexcept {
            return static_cast<std::size_t>(key.tag) ^ (key.writable ? 1U : 0U);
        }
    };
    std::unordered_map<block_key, std::weak_ptr<const uct::sm::shared_block>, hash> blocks_;
    std::size_t prune_at_ = 16;
};

// A worker that accesses registered memory for its peers. While it is inside, no other thread
// unmaps the memory. Owned by the worker; owner context.
class memory_accessor {
public:
    explicit memory_accessor(memory_table& table);
    ~memory_accessor();
    memory_accessor(const memory_accessor&) = delete;
    memory_accessor& operator=(const memory_accessor&) = delete;

    // Address at which to carry out a peer's request, valid until `leave` or the next `enter`. If
    // it is nullptr, the status is the reason: UCS_ERR_INVALID_ADDR (no such memory, or outside of
    // it) or UCS_ERR_REJECTED (not allowed).
    struct entry {
        std::byte* address;
        ucs_status_t status;
        bool is_on_device = false;  // the processor must not access it
    };
    [[nodiscard]] entry enter(const access_request& request) noexcept;
    void leave() noexcept { inside_.store(nullptr, std::memory_order_release); }

private:
    friend class memory_table;
    memory_table& table_;
    std::atomic<const memory*> inside_{nullptr};
    std::thread::id thread_;  // written with the table's lock held
};

// Access to registered memory for the duration of a scope.
class scoped_access {
public:
    scoped_access(memory_accessor& accessor, const access_request& request) noexcept
        : accessor_(accessor), entered_(accessor.enter(request)) {}
    ~scoped_access() { accessor_.leave(); }
    scoped_access(const scoped_access&) = delete;
    scoped_access& operator=(const scoped_access&) = delete;
    [[nodiscard]] std::byte* address() const noexcept { return entered_.address; }
    [[nodiscard]] ucs_status_t status() const noexcept { return entered_.status; }
    [[nodiscard]] bool is_on_device() const noexcept { return entered_.is_on_device; }

private:
    memory_accessor& accessor_;
    memory_accessor::entry entered_;
};

}  // namespace ucp::mem
