// Objects behind 64-bit ids that strangers may send us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "ucs/sys/siphash.hpp"
#include "ucs/sys/uuid.hpp"

namespace ucs::datastruct {

// The next use of a slot has the next number.
class counted_ids {
public:
    [[nodiscard]] std::uint64_t next(std::uint32_t uses) noexcept { return uses; }
};

// Nobody can guess them (where the system has random numbers, see random_bytes): an id serves as
// the right to what it names. Costs some nanoseconds for each element that is added, nothing when
// it is looked up.
class secret_ids {
public:
    secret_ids() noexcept { sys::random_bytes(&key_, sizeof key_); }
    [[nodiscard]] std::uint64_t next(std::uint32_t) noexcept {
        return sys::siphash(key_, ++given_) >> 24;
    }

private:
    sys::hash_key key_;
    std::uint64_t given_ = 0;
};

// Slot map: id = 40 bits of Ids << 24 | index. Add, remove and find are O(1), find of any 64-bit
// value is safe, and an id of a removed element is not found again: with counted_ids not until its
// slot was used 2^32 times, with secret_ids as far as chance allows. No valid id is 0. No more than
// 2^24 elements at a time. They keep their address: slots live in chunks that never move. Owner
// context only.
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

    // The id of the new element; 0: no memory.
    id add(T value) noexcept {
        static_assert(std::is_nothrow_move_constructible_v<T>);
        if (free_ == none && !grow()) [[unlikely]]
            return 0;
        const std::uint32_t index = free_;
        slot& place = at(index);
        ::new (static_cast<void*>(place.bytes)) T(std::move(value));
        free_ = place.next_free;
        do {
            place.name = ids_.next(++place.uses) << index_bits | index;
        } while (place.name >> index_bits == 0);
        ++size_;
        return place.name;
    }

    // nullptr unless `handle` names an element that is here now.
    [[nodiscard]] T* find(id handle) noexcept {
        slot* place = occupied(handle);
        return place == nullptr ? nullptr : place->object();
    }
    [[nodiscard]] const T* find(id handle) const noexcept {
        return const_cast<id_table*>(this)->find(handle);
    }

    // Destroys the element; false when there is none of this id.
    bool remove(id handle) noexcept {
        slot* place = occupied(handle);
        if (place == nullptr) return false;
        vacate(*place, index_of(handle));
        return true;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    // Calls visit(id, T&) for every element. `visit` may remove any element and add some; whether
    // it sees those is not said.
    template<class Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t index = 0; index < used_; ++index) {
            slot& place = at(index);
            if (place.name != 0) visit(place.name, *place.object());
        }
    }

    // Removes everything. Ids given out before stay invalid.
    void clear() noexcept {
        for (std::uint32_t index = 0; index < used_; ++index) {
            if (at(index).name != 0) vacate(at(index), index);
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

    slot* occupied(id handle) noexcept {
        const std::uint32_t index = index_of(handle);
        if (index >= used_ || handle == 0) return nullptr;
        slot& place = at(index);
        return place.name == handle ? &place : nullptr;
    }

    void vacate(slot& place, std::uint32_t index) noexcept {
        place.name = 0;  // before the destructor, which may come back here
        --size_;
        place.object()->~T();
        place.next_free = free_;
        free_ = index;
    }

    bool grow() noexcept {
        if (used_ == most_slots) return false;
        try {
            chunks_.push_back(std::make_unique<slot[]>(chunk_slots));
        } catch (const std::bad_alloc&) {
            return false;
        }
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
    std::uint32_t used_ = 0;  // slots there are
    std::size_t size_ = 0;
};

// For those that peers may name, and nobody else.
template<class T>
using secret_id_table = id_table<T, secret_ids>;

}  // namespace ucs::datastruct
