// Messages that nobody receives any more.
#pragma once

#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

namespace ucg::net {

// Takes what has come and fits the tag, so that its senders' sends end. How many there were.
unsigned drop_messages(ucp_worker_h worker, std::uint64_t tag, std::uint64_t mask) noexcept;

// Groups that are gone, in which operations failed: what was on its way to them still comes. It
// would keep memory, and senders waiting, for as long as the worker lives. Owned by the context;
// owner context.
class late_messages {
public:
    // Without memory they stay.
    void expect(std::uint32_t group) noexcept try {
        if (std::ranges::find(groups_, group) == groups_.end()) groups_.push_back(group);
    } catch (const std::bad_alloc&) {
    }

    // Now and then: drops what has come. `is_used`: another group has that number, whose messages
    // are not to be touched; what comes late for the old one is told from them by nobody.
    template<class IsUsed>
    unsigned progress(ucp_worker_h worker, const IsUsed& is_used) noexcept {
        constexpr unsigned seldom = 64;
        if (groups_.empty() || ++looks_ % seldom != 0) return 0;
        std::erase_if(groups_, is_used);
        return drop(worker);
    }

private:
    unsigned drop(ucp_worker_h worker) noexcept;

    std::vector<std::uint32_t> groups_;
    unsigned looks_ = 0;
};

}  // namespace ucg::net
