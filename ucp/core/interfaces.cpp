#include "ucp/core/interfaces.hpp"

#include <algorithm>

#include "ucp/core/distance.hpp"
#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

ucs_status_t interfaces::open() {
    const auto& resources = owner_.owner().resources();
    all_.resize(resources.size());
    lane_counts_.resize(resources.size());
    std::vector<ucs::topology::device_location> locations;
    for (const usable_resource& each : resources)
        locations.push_back(each.where.location);
    extra_latencies_ = distances_to(locations);
    // Reserved, because handlers may activate interfaces while the lists are walked: elements must
    // not move.
    fast_.reserve(resources.size());
    slow_.reserve(resources.size());
    not_opened_.resize(resources.size());
    unsigned opened = 0;
    for (std::size_t i = 0; i < resources.size(); ++i) {
        const uct::iface_params params{
            .events = owner_.events(),
            .config = owner_.owner().source(),
            .worker_uid = owner_.uid(),
            .rejected = &owner_.log().rejected(),
            .sleeps = owner_.params().wakeup,
            .job_key = owner_.owner().job_key(),
            .domain = owner_.owner().devices().open(resources[i].memory)};
        auto made = resources[i].component->open(resources[i].where, params);
        if (!made) {
            not_opened_[i] = ucs_status_string(made.status());
            ucs::log::warn(core_log, "{}/{} could not be opened and is left out: {}",
                           resources[i].where.transport, resources[i].where.device, not_opened_[i]);
            continue;
        }
        all_[i] = std::move(*made);
        uct::iface& fresh = *all_[i];
        extra_latencies_[i] += connection_fetch_seconds(fresh.attr().connections_at_hand,
                                                        owner_.owner().params().estimated_eps);
        publish(events::interface_opened{owner_, fresh});
        fresh.set_error_handler(
            {[](void* arg, uct::ep& failed, ucs_status_t status) {
                 auto& self = *static_cast<interfaces*>(arg);
                 const auto found = self.lanes_.find(&failed);
                 if (found != self.lanes_.end())
                     publish(events::lane_failed{*found->second, failed, status});
             },
             this});
        if (is_home(i)) activate(i);
        ++opened;
    }
    if (opened > 0) return UCS_OK;
    ucs::log::error(core_log, "no transport could be opened, see the warnings above");
    return UCS_ERR_NO_DEVICE;
}

// Peers of the same host may write to shared memory at any time, and polling it costs nothing.
// Other interfaces are polled while they have lanes; before that, rare polls notice their first
// messages.
bool interfaces::is_home(std::size_t resource) const noexcept {
    const uct::iface_attr& attr = all_[resource]->attr();
    return attr.ops.has(uct::op::am_short) && attr.cost == uct::poll_cost::memory &&
           attr.reach == uct::scope::host;
}

std::size_t interfaces::find(std::string_view transport) const noexcept {
    const auto& resources = owner_.owner().resources();
    std::size_t found = 0;
    while (found < all_.size() &&
           (all_[found] == nullptr || resources[found].where.transport != transport))
        ++found;
    return found;
}

void interfaces::activate(std::size_t resource) {
    uct::iface* iface = all_[resource].get();
    const uct::iface_attr& attr = iface->attr();
    if (!attr.ops.has(uct::op::am_short) && !attr.ends_in_progress) return;
    if (!is_polled(*iface))
        (iface->attr().cost == uct::poll_cost::memory ? fast_ : slow_).push_back(iface);
    set_turns();
}

bool interfaces::is_polled(const uct::iface& iface) const noexcept {
    const auto has = [&iface](const auto& list) {
        return std::find(list.begin(), list.end(), &iface) != list.end();
    };
    return has(fast_) || has(slow_);
}

void interfaces::set_turns() {
    const unsigned shared = owner_.owner().options().poll_slow_every;
    // If no interface is polled by memory loads, the event loop is polled every time.
    const unsigned events = fast_.empty() ? 1 : schedule::event_turns;
    owner_.schedule().set_slow_turn(slow_.empty() ? events
                                                  : (memory_lanes_ && !fast_.empty() ? shared : 1));
}

unsigned interfaces::poll_slow() {
    unsigned events = 0;
    for (uct::iface* polled : slow_)
        events += polled->progress();
    return events;
}

// Interfaces without lanes of ours may have been reached by a peer: they are polled like others
// until nothing more comes. The same holds for interfaces whose last lane, for connection data, is
// closed.
unsigned interfaces::poll_unused() {
    unsigned events = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        uct::iface* const each = all_[i].get();
        if (each == nullptr || is_home(i) || (lane_counts_[i] > 0 && is_polled(*each))) continue;
        const unsigned found = each->progress();
        events += found;
        if (found > 0) {
            activate(i);
        } else if (lane_counts_[i] == 0 && is_polled(*each)) {
            std::erase(fast_, each);
            std::erase(slow_, each);
            set_turns();
        }
    }
    return events;
}

void interfaces::track_lane(const uct::ep& lane, std::size_t resource, peer* to) {
    if (to == nullptr) {
        lanes_.erase(&lane);
        --lane_counts_[resource];
        return;
    }
    lanes_[&lane] = to;
    ++lane_counts_[resource];
    const uct::iface_attr& attr = all_[resource]->attr();
    memory_lanes_ =
        memory_lanes_ || (attr.reach != uct::scope::process && attr.ops.has(uct::op::am_short) &&
                          attr.cost == uct::poll_cost::memory);
}

std::uint64_t interfaces::connection_of(const uct::peer_bytes& message) const noexcept {
    for (const auto& each : all_) {
        const std::uint64_t found = each == nullptr ? 0 : each->connection_of(message);
        if (found != 0) return found;
    }
    return 0;
}

std::vector<std::uint64_t> interfaces::living_connections() const {
    std::vector<std::uint64_t> all;
    for (const auto& each : all_)
        if (each != nullptr) each->append_connections(all);
    std::ranges::sort(all);
    return all;
}

void interfaces::end_connection(std::uint64_t connection, ucs_status_t status) {
    for (const auto& each : all_)
        if (each != nullptr && each->end_connection(connection, status)) break;
    // An interface does not know which endpoints send to the origin of a connection.
    while (peer* const behind = owner_.peers().find_behind(connection)) {
        behind->connection = 0;
        behind->fail_alive(status);
    }
}

ucs_status_t interfaces::arm() noexcept {
    for (const auto& each : all_) {
        if (each == nullptr) continue;
        if (const ucs_status_t status = each->arm(); status != UCS_OK) return status;
    }
    return UCS_OK;
}

bool interfaces::has_work() const noexcept {
    return std::any_of(all_.begin(), all_.end(),
                       [](const auto& each) { return each != nullptr && each->has_work(); });
}

bool interfaces::has_polled_work() const noexcept {
    return std::any_of(fast_.begin(), fast_.end(),
                       [](const uct::iface* each) { return each->has_work(); });
}

}  // namespace ucp
