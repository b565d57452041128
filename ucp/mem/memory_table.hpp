// All memory that is registered with a context.
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

class visitor;

// What a peer wants with memory that it names by a key.
struct wish {
    credentials owner;
    std::uint64_t at;
    std::uint64_t length;
    std::uint8_t wanted;  // access
};

// Owns the registered memory. Any thread: has a lock of its own.
class memory_table {
public:
    // Blocks of other processes are mapped for the program's keys only where shared memory is among
    // the transports that it wants.
    explicit memory_table(bool shares_memory = true, device_domains* devices = nullptr) noexcept
        : shares_memory_(shares_memory), devices_(devices) {}
    ~memory_table();
    memory_table(const memory_table&) = delete;
    memory_table& operator=(const memory_table&) = delete;

    // Takes it in, gives it a name, and shares it on all devices; UCS_ERR_NO_MEMORY.
    ucs::result<memory*> add(std::unique_ptr<memory> fresh);

    // Ends a registration. Peers find it no more, and no worker touches it for them when this
    // returns.
    void remove(memory& gone);

    // How a peer's memory can be reached by loads and stores here.
    struct window {
        std::byte* base = nullptr;     // nullptr: not at all
        memory::block_pointer keeper;  // keeps it mapped; empty for the program's own memory
        std::string why_not;
    };
    // Memory of this context itself, or a block of a process of this host, which is mapped now
    // unless it is already.
    window look_at(const key& of);
    // The same for exported memory, which the program wants to have mapped.
    window import(const key& of);

    [[nodiscard]] std::size_t size() const;
    // nullptr: there are none.
    [[nodiscard]] device_domains* devices() const noexcept { return devices_; }

private:
    friend class visitor;
    struct found {
        const memory* where;
        ucs_status_t status;
    };
    [[nodiscard]] found find(const wish& of) noexcept;
    // Whether a worker on another thread is inside. With the lock held.
    [[nodiscard]] bool is_visited(const memory& gone) const noexcept;
    [[nodiscard]] const memory* find_own(const key& of) noexcept;
    window map_block(const key& of);
    void prune();

    const bool shares_memory_;
    device_domains* const devices_;
    mutable std::mutex lock_;
    ucs::datastruct::id_table<memory*> memories_;
    std::vector<visitor*> visitors_;
    // Blocks of others, by tag and whether they can be written; shared by all keys to them.
    struct block_key {
        std::uint64_t tag;
        bool writable;
        friend bool operator==(const block_key&, const block_key&) = default;
    };
    struct hash {
        std::size_t operator()(const block_key& of) const noexcept {
            return static_cast<std::size_t>(of.tag) ^ (of.writable ? 1U : 0U);
        }
    };
    std::unordered_map<block_key, std::weak_ptr<const uct::sm::shared_block>, hash> blocks_;
    std::size_t prune_at_ = 16;
};

// A worker that touches registered memory for its peers. While it is inside, the memory is not
// unmapped by another thread. Owned by the worker; owner context.
class visitor {
public:
    explicit visitor(memory_table& of);
    ~visitor();
    visitor(const visitor&) = delete;
    visitor& operator=(const visitor&) = delete;

    // Where to do what a peer wishes, until `leave` or the next `enter`; nullptr, and why:
    // UCS_ERR_INVALID_ADDR (no such memory, or outside of it), UCS_ERR_REJECTED (not allowed).
    struct entry {
        std::byte* at;
        ucs_status_t status;
    };
    [[nodiscard]] entry enter(const wish& what) noexcept;
    void leave() noexcept { inside_.store(nullptr, std::memory_order_release); }

private:
    friend class memory_table;
    memory_table& of_;
    std::atomic<const memory*> inside_{nullptr};
    std::thread::id thread_;  // written with the table's lock held
};

// A visit of one scope.
class visit {
public:
    visit(visitor& who, const wish& what) noexcept : who_(who), entered_(who.enter(what)) {}
    ~visit() { who_.leave(); }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    [[nodiscard]] std::byte* at() const noexcept { return entered_.at; }
    [[nodiscard]] ucs_status_t status() const noexcept { return entered_.status; }

private:
    visitor& who_;
    visitor::entry entered_;
};

}  // namespace ucp::mem
