#include "ucp/core/peer_limits.hpp"

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

unsigned peer_limits::fail_for_limits() {
    unsigned failed = fail_for_limit(
        waiting_, [](const peer& each) -> const limit_share& { return each.waiting_share; },
        "does not take the answers that it asks for");
    publish(events::limits_checked{owner_, failed});
    return failed;
}

unsigned peer_limits::fail_for_limit(const shared_limit& limit, peer_table::share_getter share_of,
                                     const char* does) {
    if (!limit.is_passed()) return 0;
    peer* const most = owner_.peers().find_with_most(share_of);
    if (most == nullptr) return 0;
    owner_.log().rejected().warn(
        proto_log,
        "worker {:x} {}: {} bytes are kept for it, and {} for all peers; its endpoints fail",
        most->uid(), does, share_of(*most).used(), limit.used());
    most->fail_for_limit();
    return 1;
}

}  // namespace ucp
