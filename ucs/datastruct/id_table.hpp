// A table of objects by 64-bit ids that remain safe when untrusted peers send them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "ucs/random/random_bytes.hpp"
#include "ucs/random/siphash.hpp"
#include "ucs/type/allocated.hpp"

namespace ucs::datastruct {

// Ids that count the uses of a slot.
class counted_ids {
public:
    [[nodiscard]] std::uint64_t next(std::uint32_t uses) noexcept { return uses; }
};

// Ids that cannot be guessed (if the system has random numbers, see random_bytes()), so that
// knowledge of an id authorises access to its object. Costs some nanoseconds per added element, and
// nothing per look-up.
class secret_ids {
public:
    secret_ids() noexcept { sys::random_bytes(&key_, sizeof key_); }
    [[nodiscard]] std::uint64_t next(std::uint32_t) noexcept {
        return sys::siphash(key_, ++issued_) >> 24;
    }

private:
    sys::hash_key key_;
    std::uint64_t issued_ = 0;
};

// Slot map: id = 40 bits of Ids << 24 | index. Add, remove and find are O(1). find() of any 64-bit
// value is safe. The id of a removed element is not found again: with counted_ids until its slot
// has been used 2^32 times, with secret_ids with high probability. No valid id is 0. Holds up to
// 2^24 elements. Elements keep their address: slots live in chunks that never move. Owner context
// only.
template<class T, class Ids = counted_ids>
class id_table {
public:
    using id = std::uint64_t;

    id_table() noexcept = default;
    id_table(const id_table&) = delete;
    id_table& operator=(const id_table&) = delete;
    id_table(id_table&& other) noexcept
        : ids_(other.ids_),
          chunks_(std::move(other.chunks_)),
          free_(std::exchange(other.free_, none)),
          used_(std::exchange(other.used_, 0)),
          size_(std::exchange(other.size_, 0)) {}
    ~id_table() { clear(); }

    // Adds an element and returns its id; 0 if there is no memory.
    id add(T value) noexcept {
        static_assert(std::is_nothrow_move_constructible_v<T>);
        if (free_ == none && !grow()) [[unlikely]]
            return 0;
        const std::uint32_t index = free_;
        slot& entry = at(index);
        ::new (static_cast<void*>(entry.bytes)) T(std::move(value));
        free_ = entry.next_free;
        do {
            entry.name = ids_.next(++entry.uses) << index_bits | index;
        } while (entry.name >> index_bits == 0);
        ++size_;
        return entry.name;
    }

    // Returns the element of this id, or nullptr if there is none.
    [[nodiscard]] T* find(id handle) noexcept {
        slot* entry = find_slot(handle);
        return entry == nullptr ? nullptr : entry->object();
    }
    [[nodiscard]] const T* find(id handle) const noexcept {
        return const_cast<id_table*>(this)->find(handle);
    }

    // Destroys the element. Returns false if there is none of this id.
    bool remove(id handle) noexcept {
        slot* entry = find_slot(handle);
        if (entry == nullptr) return false;
        free_slot(*entry, index_of(handle));
        return true;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    // Calls visit(id, T&) for every element. `visit` may remove any element and add new ones; it is
    // unspecified whether it visits the new ones.
    template<class Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t index = 0; index < used_; ++index) {
            slot& entry = at(index);
            if (entry.name != 0) visit(entry.name, *entry.object());
        }
    }

    // Removes all elements. Their ids stay invalid.
    void clear() noexcept {
        for (std::uint32_t index = 0; index < used_; ++index) {
            if (at(index).name != 0) free_slot(at(index), index);
        }
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::uint32_t index_bits = 24;
    static constexpr std::uint32_t most_slots = 1U << index_bits;
    static constexpr std::uint32_t chunk_bits = 6;
    static constexpr std::uint32_t chunk_slots = 1U << chunk_bits;

    struct slot {
        id name = 0;  // 0 while free
        std::uint32_t uses = 0;
        std::uint32_t next_free = none;
        alignas(T) std::byte bytes[sizeof(T)];
        T* object() noexcept { return std::launder(reinterpret_cast<T*>(bytes)); }
    };

    slot& at(std::uint32_t index) noexcept {
        return chunks_[index >> chunk_bits][index & (chunk_slots - 1)];
    }

    static std::uint32_t index_of(id handle) noexcept {
        return static_cast<std::uint32_t>(handle) & (most_slots - 1);
    }

    slot* find_slot(id handle) noexcept {
        const std::uint32_t index = index_of(handle);
        if (index >= used_ || handle == 0) return nullptr;
        slot& entry = at(index);
        return entry.name == handle ? &entry : nullptr;
    }

    void free_slot(slot& entry, std::uint32_t index) noexcept {
        entry.name = 0;  // before the destructor, which may call this table again
        --size_;
        entry.object()->~T();
        entry.next_free = free_;
        free_ = index;
    }

    bool grow() noexcept {
        if (used_ == most_slots) return false;
        if (!allocated([&] { chunks_.push_back(std::make_unique<slot[]>(chunk_slots)); }))
            return false;
        for (std::uint32_t i = chunk_slots; i-- > 0;) {
            at(used_ + i).next_free = free_;
            free_ = used_ + i;
        }
        used_ += chunk_slots;
        return true;
    }

    [[no_unique_address]] Ids ids_;
    std::vector<std::unique_ptr<slot[]>> chunks_;
    std::uint32_t free_ = none;
    std::uint32_t used_ = 0;  // allocated slots
    std::size_t size_ = 0;
};

// For objects that only peers with the id may access.
template<class T>
using secret_id_table = id_table<T, secret_ids>;

}  // namespace ucs::datastruct
