// Copies in flight of an endpoint.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/types.hpp"

namespace uct::cuda {

class operation_list;

// One started operation, or a flush that waits for those before it. Owned by a copy_queue, owner
// context.
struct operation {
    ucs::datastruct::list_hook in_owner;  // the operations of an endpoint, in their order
    ucs::datastruct::list_hook in_queue;  // ended ones that are not reported yet, or free ones
    operation_list* owner = nullptr;
    completion* done = nullptr;
    unsigned pending = 0;  // events that it waits for
    bool is_flush = false;
    ucs_status_t status = UCS_OK;  // the first error
};

// The operations of one endpoint that were started and not reported, the oldest first.
class operation_list {
public:
    operation_list() noexcept = default;
    operation_list(const operation_list&) = delete;
    operation_list& operator=(const operation_list&) = delete;

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
    [[nodiscard]] operation& front() noexcept { return list_.front(); }
    void add(operation& fresh) noexcept {
        fresh.owner = this;
        list_.push_back(fresh);
    }
    void remove(operation& ended) noexcept {
        list_.erase(list_.iterator_to(ended));
        ended.owner = nullptr;
    }

private:
    ucs::datastruct::list<operation, &operation::in_owner> list_;
};

}  // namespace uct::cuda
