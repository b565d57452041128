// What blocking calls prepared, for the next call of the same kind.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <vector>

#include "ucs/type/result.hpp"

namespace ucg {

class group;
class collective_request;

// The last few, the newest first. None of them runs: a call has its own as long as it lasts, so
// that other threads may call meanwhile. Owned by a group. Owner context.
class kept_requests {
public:
    kept_requests();  // std::bad_alloc
    ~kept_requests();

    // One for these arguments.
    ucs::result<std::unique_ptr<collective_request>> take(group& of, const ucg_coll_args_t& args);
    // It ended; what no other call can use is destroyed.
    void give_back(std::unique_ptr<collective_request> what) noexcept;
    void clear() noexcept;

private:
    static constexpr std::size_t most = 16;
    std::vector<std::unique_ptr<collective_request>> all_;  // has room for all
};

}  // namespace ucg
