// Disposal of messages that no operation receives any more.
#pragma once

#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

namespace ucg::net {

// Receives and drops all messages that match the tag, so that their sends end. Returns their
// number.
unsigned drop_messages(ucp_worker_h worker, std::uint64_t tag, std::uint64_t mask) noexcept;

// Tracks groups that are gone and in which operations failed. Messages for them may still come, and
// would take up memory, and keep senders waiting, for as long as the worker lives. Owned by the
// context; owner context.
class late_messages {
public:
    // If there is no memory for the entry, the messages stay.
    void expect(std::uint32_t group) noexcept try {
        if (std::ranges::find(groups_, group) == groups_.end()) groups_.push_back(group);
    } catch (const std::bad_alloc&) {
    }

    // Drops messages that have come, in some of the calls. `is_used`: returns whether another group
    // has that number now; its messages must not be dropped, and late messages for the old group
    // cannot be distinguished from them.
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
