// The endpoints of a worker, by the ids that it gives to peers.
#pragma once

#include <new>

#include "ucs/datastruct/id_table.hpp"

namespace ucp {

class ep;

// Peers name endpoints by these ids, which cannot be guessed. Owner context.
class endpoint_table {
public:
    // Returns the id of the added endpoint. Throws std::bad_alloc.
    std::uint64_t add(ep& fresh) {
        const std::uint64_t id = by_id_.add(&fresh);
        if (id == 0) throw std::bad_alloc();
        return id;
    }
    // Replaces an endpoint's id and returns the new one. Returns 0 if there is no memory: the old
    // id stays valid.
    [[nodiscard]] std::uint64_t renew(std::uint64_t id) noexcept {
        const std::uint64_t renewed = by_id_.add(*by_id_.find(id));
        if (renewed != 0) by_id_.remove(id);
        return renewed;
    }
    // Returns the endpoint that a peer named, or nullptr.
    [[nodiscard]] ep* find(std::uint64_t id) noexcept {
        ep** found = by_id_.find(id);
        return found == nullptr ? nullptr : *found;
    }
    void erase(std::uint64_t id) noexcept { by_id_.remove(id); }
    [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }
    template<class Visit>
    void for_each(const Visit& visit) {
        by_id_.for_each([&visit](std::uint64_t, ep* each) { visit(*each); });
    }

private:
    ucs::datastruct::secret_id_table<ep*> by_id_;
};

}  // namespace ucp
