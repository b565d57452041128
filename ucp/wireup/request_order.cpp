#include "ucp/wireup/request_order.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace ucp::wireup {

bool request_order::take(const ucs::security::public_key& sender, std::uint64_t number) {
    if (table_ == nullptr) {
        // Large enough that calloc maps pages, and does not write to them.
        table_.reset(static_cast<place*>(std::calloc(sets_, senders_of_set * sizeof(place))));
        if (table_ == nullptr) throw std::bad_alloc();
        secret_ = ucs::sys::random_hash_key();
    }
    const std::uint64_t hash = hash_of(sender);
    place* const first = &table_[hash % sets_ * senders_of_set];
    place* const last = first + senders_of_set - 1;
    // The places of a set are ordered by their last use.
    place* const found =
        std::find_if(first, last, [hash](const place& each) { return each.sender == hash; });
    if (found->sender != hash) *found = {hash, 0};
    const bool is_newer = number > found->last;
    found->last = std::max(found->last, number);
    std::rotate(first, found, found + 1);
    return is_newer;
}

std::uint64_t request_order::hash_of(const ucs::security::public_key& sender) const noexcept {
    std::uint64_t hash = 0;
    for (std::size_t offset = 0; offset < sender.size(); offset += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, &sender[offset], sizeof word);
        hash = ucs::sys::siphash(secret_, hash ^ word);
    }
    return hash;
}

}  // namespace ucp::wireup
