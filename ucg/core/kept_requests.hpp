// What blocking calls prepared, for the next call of the same kind.
#pragma once

#include <ucg/api/ucg.h>

#include <memory>
#include <vector>

#include "ucs/type/result.hpp"

namespace ucg {

class group;
class collective_request;

// The last few, the newest first. Owned by a group. Owner context.
class kept_requests {
public:
    kept_requests() noexcept;
    ~kept_requests();

    // One for these arguments, which does not run. Belongs to this object until the next call.
    ucs::result<collective_request*> get(group& of, const ucg_coll_args_t& args);
    void clear() noexcept;

private:
    static constexpr std::size_t most = 16;
    std::vector<std::unique_ptr<collective_request>> all_;
};

}  // namespace ucg
