// Cache of the requests of blocking calls, for later calls with the same kind of arguments.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <vector>

namespace ucg {

class group;
class collective_request;

// A blocking call takes a request and gives it back at its end. While one thread waits in a call,
// other threads may make calls and get other requests. Owned by a group. Owner context.
class kept_requests {
public:
    kept_requests();  // std::bad_alloc
    ~kept_requests();

    // Returns a request for these arguments. The caller must give it back. Throws std::bad_alloc.
    collective_request& take(group& group, const ucg_coll_args_t& args);
    // Takes a request back that has ended. Destroys it if it cannot be reused.
    void give_back(collective_request& request) noexcept;
    void clear() noexcept;

private:
    // Limit of the cached requests that no call uses.
    static constexpr std::size_t max_kept = 16;
    struct entry {
        std::unique_ptr<collective_request> request;
        bool taken = true;
    };
    std::vector<entry> all_;  // requests that are often taken are near the front
};

}  // namespace ucg
