// What blocking calls prepared, for the next call of the same kind.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <vector>

namespace ucg {

class group;
class collective_request;

// A call has one for itself as long as it lasts, so that other threads may call meanwhile. Owned by
// a group. Owner context.
class kept_requests {
public:
    kept_requests();  // std::bad_alloc
    ~kept_requests();

    // One for these arguments, to be given back. std::bad_alloc.
    collective_request& take(group& of, const ucg_coll_args_t& args);
    // It ended; what no other call can use is destroyed.
    void give_back(collective_request& what) noexcept;
    void clear() noexcept;

private:
    // Of those that no call has, so many are kept.
    static constexpr std::size_t most = 16;
    struct seat {
        std::unique_ptr<collective_request> what;
        bool taken = true;
    };
    std::vector<seat> all_;  // those that are often taken are near the front
};

}  // namespace ucg
