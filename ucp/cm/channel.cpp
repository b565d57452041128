#include "ucp/cm/channel.hpp"

namespace ucp::cm {

// Where these do not get through, the end of the channel says nearly as much.
void channel::send_refusal(wire::reason why) noexcept {
    static_cast<void>(send(wire::header{.kind = wire::kind::refusal, .reason = why}.pack()));
}

void channel::send_established() noexcept {
    static_cast<void>(send(wire::header{.kind = wire::kind::established}.pack()));
}

}  // namespace ucp::cm
