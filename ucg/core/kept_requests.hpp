// Cache of the requests that blocking calls have prepared, for the next call of the same kind.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <vector>

namespace ucg {

class group;
class collective_request;

// A call has a request of its own for as long as it lasts, so that other threads may make calls
// meanwhile. Owned by a group. Owner context.
class kept_requests {
public:
    kept_requests();  // std::bad_alloc
    ~kept_requests();

    // Returns a request for these arguments. The caller must give it back. std::bad_alloc.
    collective_request& take(group& group, const ucg_coll_args_t& args);
    // Takes a request back that has ended; destroys it if no other call can use it.
    void give_back(collective_request& request) noexcept;
    void clear() noexcept;

private:
    // Limit of the requests that are kept while no call uses them.
    static constexpr std::size_t max_kept = 16;
    struct entry {
        std::unique_ptr<collective_request> request;
        bool taken = true;
    };
    std::vector<entry> all_;  // requests that are often taken are near the front
};

}  // namespace ucg
