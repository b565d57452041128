// Messages of one rank that came before their receive was posted ("unexpected" messages).
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "ucs/sys/usable_memory.hpp"

namespace ucg::node {

// A receive takes the oldest message that has its key.
struct message_key {
    std::uint64_t sequence;  // of the operation
    std::uint32_t channel;

    auto operator<=>(const message_key&) const = default;
};

struct early_message {
    std::uint64_t bytes;  // of the whole message, as the sender claims
    std::vector<std::byte> content;
    bool complete = false;

    // Appends the next bytes. The memory grows with the bytes that come, and never beyond the
    // length that the sender announced. Throws std::bad_alloc.
    void append(const std::byte* data, std::size_t count) {
        const std::size_t wanted = content.size() + count;
        if (wanted > content.capacity())
            content.reserve(std::max<std::size_t>(
                wanted, std::min<std::uint64_t>(2 * content.capacity(), bytes)));
        content.insert(content.end(), data, data + count);
    }
};

// A peer chooses how many messages there are and which keys they have, so no operation visits all
// of them: a search compares as many keys as the number of messages has bits. Tests count the
// comparisons with an `Order` of their own. Messages do not move until they are removed. Owner
// context.
template<class Order = std::less<>>
class basic_early_messages {
    using map = std::multimap<message_key, early_message, Order>;

public:
    using position = typename map::iterator;

    explicit basic_early_messages(const Order& order = {}) : all_(order) {}

    // Returns the memory that a message takes up. A node of the map has four words of its own.
    [[nodiscard]] static std::size_t cost(const early_message& message) noexcept {
        constexpr std::size_t words = 4 * sizeof(void*);
        const std::size_t capacity = message.content.capacity();
        return ucs::sys::heap_cost(sizeof(typename map::value_type) + words) +
               (capacity != 0 ? ucs::sys::heap_cost(capacity) : 0);
    }

    // Adds a message without content, behind those with the same key. Throws std::bad_alloc.
    [[nodiscard]] position add(const message_key& key, std::uint64_t bytes) {
        return all_.emplace(key, early_message{bytes, {}, false});
    }
    // Returns the oldest message with the key, or end().
    [[nodiscard]] position find(const message_key& key) noexcept {
        const position first = all_.lower_bound(key);
        return first == all_.end() || all_.key_comp()(key, first->first) ? all_.end() : first;
    }
    [[nodiscard]] position end() noexcept { return all_.end(); }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    // Returns the memory that is free again.
    std::size_t remove(position which) noexcept {
        const std::size_t freed = cost(which->second);
        all_.erase(which);
        return freed;
    }
    // Removes all messages of one operation. Returns the memory that is free again.
    std::size_t remove_operation(std::uint64_t sequence) noexcept {
        std::size_t freed = 0;
        position each = all_.lower_bound({sequence, 0});
        while (each != all_.end() && each->first.sequence == sequence) {
            freed += cost(each->second);
            each = all_.erase(each);
        }
        return freed;
    }
    void clear() noexcept { all_.clear(); }

private:
    map all_;
};

using early_messages = basic_early_messages<>;

}  // namespace ucg::node
