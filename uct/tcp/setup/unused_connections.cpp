#include "uct/tcp/setup/unused_connections.hpp"

#include "ucs/descriptor/descriptor_budget.hpp"
#include "uct/tcp/connection.hpp"
#include "uct/tcp/socket.hpp"

namespace uct::tcp {

namespace {

// A quarter of the descriptors for one host, and half of them for all hosts.
ucs::net::admission_limits limits_of_process() noexcept {
    return {.most = ucs::net::descriptor_share(2, 64, 16384),
            .most_per_origin = ucs::net::descriptor_share(4, 32, 1024),
            .time_to_prove = ucs::net::admission::never};
}

std::size_t most_if_scarce() noexcept {
    return ucs::net::descriptor_share(32, 4, 1024);
}

}  // namespace

unused_connections::unused_connections(const std::string& device,
                                       ucs::log::throttle& rejected) noexcept
    : device_(device), rejected_(rejected), places_(limits_of_process()) {}

void unused_connections::add(entry& fresh, int socket) noexcept {
    if (fresh.is_added()) return;
    const ucs::time::nanoseconds now = ucs::time::now();
    const ucs::net::origin from = ucs::net::origin::host(remote_address(socket).ip());
    if (places_.add(fresh, from, now) != UCS_OK) {
        fresh.connection_.fail_after_reading(UCS_ERR_NO_MEMORY);
        return;
    }
    while (ucs::net::admission::candidate* const surplus = places_.excess(now)) {
        auto& candidate = static_cast<entry&>(*surplus);
        if (candidate.is_preferred() || is_silent(candidate)) end(candidate);
    }
    if (places_.size() <= most_if_scarce() || !ucs::sys::are_descriptors_scarce()) return;
    for (;;) {
        auto& least = static_cast<entry&>(*places_.least());
        if (least.is_preferred()) return;
        if (is_silent(least)) return end(least);
    }
}

bool unused_connections::is_silent(entry& candidate) noexcept {
    if (!candidate.connection_.writer.socket.has_received()) return true;
    places_.prefer(candidate);
    return false;
}

void unused_connections::end(entry& surplus) noexcept {
    if (!std::exchange(has_reported_, true)) {
        rejected_.warn(log,
                       "{}: {} peers are connected and nothing here has an endpoint to them; the "
                       "connections of a host that has most are closed, the oldest first",
                       device_, places_.size());
    }
    places_.remove(surplus);
    surplus.connection_.fail_after_reading(UCS_ERR_CONNECTION_RESET);
}

}  // namespace uct::tcp
