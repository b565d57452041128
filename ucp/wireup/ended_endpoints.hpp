// Endpoints of peers that have ended, by the peer's own word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace ucp::wireup {

// A request of such an endpoint is late, or somebody has recorded it and sends it again. It must
// take no endpoint that waits for the peer. The ids are 40 random bits, so no later endpoint has
// the id of one of these. Remembers the last `most`. Owner context.
class ended_endpoints {
public:
    static constexpr std::size_t most = 4096;

    // Without memory it is not remembered.
    void remember(std::uint64_t worker, std::uint64_t ep) noexcept {
        const entry fresh{ep, worker};
        if (entries_.size() == most) {
            entries_[next_++ % most] = fresh;
            return;
        }
        try {
            entries_.push_back(fresh);
        } catch (const std::bad_alloc&) {
        }
    }
    [[nodiscard]] bool contains(std::uint64_t worker, std::uint64_t ep) const noexcept {
        return std::ranges::find(entries_, entry{ep, worker}) != entries_.end();
    }

private:
    struct entry {
        std::uint64_t ep;
        std::uint64_t worker;
        friend bool operator==(const entry&, const entry&) = default;
    };
    std::vector<entry> entries_;
    std::size_t next_ = 0;  // the oldest, when all places are taken
};

}  // namespace ucp::wireup
