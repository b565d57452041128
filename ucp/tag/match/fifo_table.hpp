// Hash table whose values are FIFO queues of intrusive nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "ucs/random/siphash.hpp"

namespace ucp::tag {

// Links of a node in one table: the adjacent nodes of equal key (a ring that begins at the oldest
// node) and, in the oldest node, the next key of the same bucket.
template<class Node>
struct fifo_links {
    Node* newer;
    Node* older;
    Node* chain;
};

// Maps (tag & mask) to the nodes with that key in order of arrival. Node has members `tag` and
// `links` (a fifo_links<Node>); the table owns no node. Chains hold one node per distinct key, so
// any number of equal keys costs nothing. The table grows by itself; if that allocation fails, its
// chains become longer. Owner context.
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

    // Sets the mask of the keys. Call only while the table is empty.
    void set_mask(std::uint64_t mask) noexcept { mask_ = mask; }

    // Returns the link that points to the oldest node with the key of `tag`, or to nullptr. Valid
    // until the table changes.
    [[nodiscard]] Node** find(std::uint64_t tag) const noexcept {
        const std::uint64_t key = tag & mask_;
        Node** link = &buckets_[hash(key) & bucket_mask_];
        while (*link != nullptr && ((*link)->tag & mask_) != key)
            link = &(*link)->links.chain;
        return link;
    }

    void add(Node& node) noexcept {
        Node** link = find(node.tag);
        Node* oldest = *link;
        if (oldest == nullptr) {
            node.links = {&node, &node, nullptr};
            *link = &node;
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

    // Removes the node to which `link` (from find) points.
    void take(Node** link) noexcept {
        Node* node = *link;
        Node* next = node->links.newer;
        if (next == node) {
            *link = node->links.chain;
            --keys_;
            return;
        }
        unlink(*node);
        next->links.chain = node->links.chain;
        *link = next;
    }

    void remove(Node& node) noexcept {
        Node** link = find(node.tag);
        if (*link == &node) {
            take(link);
        } else {
            unlink(node);
        }
    }

    // Calls f(node) for every node, in no particular order; f may destroy or reuse its node, but
    // must not touch the table.
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

    // Returns the number of keys in the fullest bucket, which is the longest walk of a lookup.
    // Visits every bucket.
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

    // Removes every node.
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
    // The hash is keyed because peers choose tags and must not be able to fill one bucket.
    const ucs::sys::hash_key secret_ = ucs::sys::random_hash_key();
    Node* single_ = nullptr;  // the only bucket until there are two keys
};

}  // namespace ucp::tag
