// Hash table whose values are FIFO queues of intrusive nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "ucs/sys/siphash.hpp"

namespace ucp::tag {

// What a node carries for one table: its neighbours among the nodes of equal key (a ring, the
// oldest one leads) and, in the oldest one, the next key of the same bucket.
template<class Node>
struct fifo_links {
    Node* newer;
    Node* older;
    Node* chain;
};

// Maps (tag & mask) to the nodes with that key in order of arrival. Node has members `tag` and
// `links` (a fifo_links<Node>); the table owns no node. Chains hold one node per distinct key, so
// any number of equal keys costs nothing. Grows by itself; where memory for that is refused it
// goes on with longer chains. Owner context.
template<class Node>
class fifo_table {
public:
    fifo_table() noexcept = default;
    explicit fifo_table(std::uint64_t mask) noexcept : mask_(mask) {}
    fifo_table(const fifo_table&) = delete;
    fifo_table& operator=(const fifo_table&) = delete;
    ~fifo_table() {
        if (buckets_ != &single_) delete[] buckets_;
    }

    [[nodiscard]] std::uint64_t mask() const noexcept { return mask_; }
    [[nodiscard]] bool empty() const noexcept { return keys_ == 0; }
    [[nodiscard]] std::size_t keys() const noexcept { return keys_; }
    [[nodiscard]] std::size_t buckets() const noexcept { return bucket_mask_ + 1; }

    // Changes what is compared. Only while empty.
    void set_mask(std::uint64_t mask) noexcept { mask_ = mask; }

    // The place that points to the oldest node with the key of `tag`, or to nullptr. Valid until
    // the table changes.
    [[nodiscard]] Node** find(std::uint64_t tag) const noexcept {
        const std::uint64_t key = tag & mask_;
        Node** place = &buckets_[hash(key) & bucket_mask_];
        while (*place != nullptr && ((*place)->tag & mask_) != key)
            place = &(*place)->links.chain;
        return place;
    }

    void add(Node& node) noexcept {
        Node** place = find(node.tag);
        Node* oldest = *place;
        if (oldest == nullptr) {
            node.links = {&node, &node, nullptr};
            *place = &node;
            if (++keys_ > bucket_mask_ + 1) [[unlikely]]
                grow();
            return;
        }
        Node* newest = oldest->links.older;
        node.links.newer = oldest;
        node.links.older = newest;
        newest->links.newer = &node;
        oldest->links.older = &node;
    }

    // Takes out the node that `place` (from find) points to.
    void take(Node** place) noexcept {
        Node* node = *place;
        Node* next = node->links.newer;
        if (next == node) {
            *place = node->links.chain;
            --keys_;
            return;
        }
        unlink(*node);
        next->links.chain = node->links.chain;
        *place = next;
    }

    void remove(Node& node) noexcept {
        Node** place = find(node.tag);
        if (*place == &node) {
            take(place);
        } else {
            unlink(node);
        }
    }

    // Calls f(node) for every node, in no particular order; f may destroy or reuse its node, but
    // not touch the table.
    template<class Function>
    void for_each(Function f) const {
        for (std::size_t i = 0; i <= bucket_mask_; ++i) {
            for (Node* oldest = buckets_[i]; oldest != nullptr;) {
                Node* chain = oldest->links.chain;
                for_ring(*oldest, f);
                oldest = chain;
            }
        }
    }

    // Keys in the fullest bucket: what the unluckiest lookup walks over. Looks at every bucket.
    [[nodiscard]] std::size_t longest_chain() const noexcept {
        std::size_t longest = 0;
        for (std::size_t i = 0; i <= bucket_mask_; ++i) {
            std::size_t length = 0;
            for (const Node* oldest = buckets_[i]; oldest != nullptr; oldest = oldest->links.chain)
                ++length;
            longest = length > longest ? length : longest;
        }
        return longest;
    }

    // Forgets every node.
    void clear() noexcept {
        for (std::size_t i = 0; i <= bucket_mask_; ++i)
            buckets_[i] = nullptr;
        keys_ = 0;
    }

private:
    static constexpr std::size_t first_buckets = 32;

    [[nodiscard]] std::size_t hash(std::uint64_t key) const noexcept {
        return ucs::sys::quick_hash(secret_, key);
    }

    static void unlink(Node& node) noexcept {
        node.links.older->links.newer = node.links.newer;
        node.links.newer->links.older = node.links.older;
    }

    template<class Function>
    static void for_ring(Node& oldest, Function& f) {
        Node* const newest = oldest.links.older;
        for (Node* node = &oldest;;) {
            Node* next = node->links.newer;
            const bool last = node == newest;
            f(*node);
            if (last) return;
            node = next;
        }
    }

    [[gnu::noinline, gnu::cold]] void grow() noexcept {
        const std::size_t count = buckets_ == &single_ ? first_buckets : 2 * (bucket_mask_ + 1);
        Node** fresh = new (std::nothrow) Node*[count]();
        if (fresh == nullptr) return;
        for (std::size_t i = 0; i <= bucket_mask_; ++i) {
            for (Node* oldest = buckets_[i]; oldest != nullptr;) {
                Node* chain = oldest->links.chain;
                Node** bucket = &fresh[hash(oldest->tag & mask_) & (count - 1)];
                oldest->links.chain = *bucket;
                *bucket = oldest;
                oldest = chain;
            }
        }
        if (buckets_ != &single_) delete[] buckets_;
        buckets_ = fresh;
        bucket_mask_ = count - 1;
    }

    std::uint64_t mask_ = ~std::uint64_t{0};
    Node** buckets_ = &single_;
    std::size_t bucket_mask_ = 0;
    std::size_t keys_ = 0;
    // Peers choose tags, and must not be able to fill one bucket.
    const ucs::sys::hash_key secret_ = ucs::sys::random_hash_key();
    Node* single_ = nullptr;  // the only bucket until there are two keys
};

}  // namespace ucp::tag
