#include "ucp/wireup/requests.hpp"

#include "ucp/core/worker.hpp"

namespace ucp::wireup {

requests::requests(worker& owner) noexcept : repeater(owner.events(), owner.watch().interval()) {}

}  // namespace ucp::wireup
