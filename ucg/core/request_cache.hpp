// Cache of requests for later calls with the same kind of arguments.
#pragma once

#include <ucg/api/ucg.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace ucg {

// Returns whether two calls without arrays differ in their buffers at most.
inline bool is_same_kind(const ucg_coll_args_t& a, const ucg_coll_args_t& b) noexcept {
    return a.coll == b.coll && a.count == b.count && a.type == b.type && a.op == b.op &&
           a.flags == b.flags && a.root == b.root && a.element_size == b.element_size &&
           a.timeout == b.timeout && a.src_memory == b.src_memory && a.dst_memory == b.dst_memory;
}

// Request has is_idle(), and args(), the arguments of the call. The cache keeps at most `Most`
// requests, and those in use. Owned by a group. Owner context.
template<class Request, std::size_t Most>
class request_cache {
public:
    // Returns an idle request that `matches`, or nullptr. Moves requests that are often found to
    // the front, and the others to the end.
    template<class Matches>
    [[nodiscard]] Request* find(const Matches& matches) noexcept {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            Request& found = *all_[i];
            if (!found.is_idle() || !matches(found)) continue;
            if (i != 0) std::swap(all_[i], all_[i / 2]);
            return &found;
        }
        return nullptr;
    }

    // Adds a request, and destroys idle ones if there are too many. A request for long vectors may
    // use as much memory as the program's data, so only one idle request of these stays. One that
    // the caller removes after its use (`stays` is false) displaces no other. Throws
    // std::bad_alloc.
    Request& add(std::unique_ptr<Request> made, bool stays = true) {
        if (stays && is_long(*made))
            std::erase_if(all_, [](const auto& each) { return each->is_idle() && is_long(*each); });
        while (stays && all_.size() >= Most) {
            const auto last = std::find_if(all_.rbegin(), all_.rend(),
                                           [](const auto& each) { return each->is_idle(); });
            if (last == all_.rend()) break;
            all_.erase(std::next(last).base());
        }
        return **all_.insert(all_.begin(), std::move(made));
    }

    void remove(const Request& unwanted) noexcept {
        std::erase_if(all_, [&](const auto& each) { return each.get() == &unwanted; });
    }
    void clear() noexcept { all_.clear(); }

private:
    static bool is_long(const Request& request) noexcept { return request.args().count > 1U << 18; }

    std::vector<std::unique_ptr<Request>> all_;
};

}  // namespace ucg
