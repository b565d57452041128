#include "ucp/core/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ucp/core/complete.hpp"
#include "ucp/core/distance.hpp"
#include "ucp/core/events.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

ucs::result<std::unique_ptr<worker>> worker::create(const context& parent,
                                                    const worker_params& params) {
    auto events = ucs::async::event_loop::create();
    if (!events) return events.status();
    std::unique_ptr<worker> made = make(parent, params, std::move(*events));
    if (const ucs_status_t status = made->open_interfaces(); status != UCS_OK) return status;
    if (params.event_fd >= 0) {
        if (const ucs_status_t status = made->join_event_set(); status != UCS_OK) return status;
    }
    made->pack_addresses();
    ucs_status_t usable = UCS_OK;
    publish(events::worker_opened{*made, usable});
    if (usable != UCS_OK) return usable;
    made->show();
    return made;
}

worker::worker(const context& parent, const worker_params& params,
               std::unique_ptr<ucs::async::event_loop> events)
    : context_(parent),
      lock_(params.thread_mode == UCS_THREAD_MODE_MULTI),
      requests_(parent.params().request_area),
      accessor_(parent.memories()),
      params_(params),
      identity_(ucs::security::key_pair::random()),
      uid_(address::uid_of(identity_.public_half())),
      events_(std::move(events)),
      keepalive_(*events_, parent.options()),
      view_(std::make_shared<worker_view>(params.name, params.thread_mode,
                                          [loop = events_.get()] { loop->wake(); })) {}

void worker::show() {
    events_->set_wake_handler([this] { view_->queries.serve_query(*this); });
    context_.attach(view_);
    daemon_listener_ = ucs::vfs::daemon_listener::open(*events_, context_.source());
}

void worker::end() noexcept {
    ending_ = true;
    context_.detach(view_);
    view_->queries.close();
    daemon_listener_.reset();
    if (params_.event_fd >= 0) leave_event_set();
    endpoints_.for_each([](ep& each) {
        each.detach_user();
        each.abort_for_destruction();
    });
    endpoints_.for_each([this](ep& each) { destroy_later(each); });
    run_ended();
    empty_trash();
    publish(events::endpoints_ended{*this});
    peers_.clear();
}

worker::~worker() {
    interfaces_.clear();
    if (requests_.in_use() > 0 && !params_.ignore_request_leak) {
        ucs::log::warn(core_log,
                       "worker {} is destroyed while {} requests were not freed; free every "
                       "request that an operation returned",
                       params_.name, requests_.in_use());
    }
}

ucs_status_t worker::open_interfaces() {
    const auto& resources = context_.resources();
    interfaces_.resize(resources.size());
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
        const uct::iface_params params{.events = *events_,
                                       .config = context_.source(),
                                       .worker_uid = uid_,
                                       .rejected = &rejected_,
                                       .sleeps = params_.wakeup,
                                       .job_key = context_.job_key(),
                                       .domain = context_.devices().open(resources[i].memory)};
        auto made = resources[i].component->open(resources[i].where, params);
        if (!made) {
            not_opened_[i] = ucs_status_string(made.status());
            ucs::log::warn(core_log, "{}/{} could not be opened and is left out: {}",
                           resources[i].where.transport, resources[i].where.device, not_opened_[i]);
            continue;
        }
        interfaces_[i] = std::move(*made);
        uct::iface& fresh = *interfaces_[i];
        extra_latencies_[i] += connection_fetch_seconds(fresh.attr().connections_at_hand,
                                                        context_.params().estimated_eps);
        publish(events::interface_opened{*this, fresh});
        fresh.set_error_handler(
            {[](void* arg, uct::ep& failed, ucs_status_t status) {
                 auto& self = *static_cast<worker*>(arg);
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
bool worker::is_home(std::size_t resource) const noexcept {
    const uct::iface_attr& attr = interfaces_[resource]->attr();
    return attr.ops.has(uct::op::am_short) && attr.cost == uct::poll_cost::memory &&
           attr.reach == uct::scope::host;
}

void worker::activate(std::size_t resource) {
    uct::iface* iface = interfaces_[resource].get();
    if (!iface->attr().ops.has(uct::op::am_short)) return;
    if (!is_polled(*iface))
        (iface->attr().cost == uct::poll_cost::memory ? fast_ : slow_).push_back(iface);
    set_turns();
}

bool worker::is_polled(const uct::iface& iface) const noexcept {
    const auto has = [&iface](const auto& list) {
        return std::find(list.begin(), list.end(), &iface) != list.end();
    };
    return has(fast_) || has(slow_);
}

void worker::set_turns() {
    const unsigned shared = context_.options().poll_slow_every;
    // If no interface is polled by memory loads, the event loop is polled every time.
    const unsigned events = fast_.empty() ? 1 : event_turns;
    slow_turn_ = slow_.empty() ? events : (memory_lanes_ && !fast_.empty() ? shared : 1);
}

unsigned worker::progress_slow(unsigned found) {
    publish(events::slow_progress_began{*this});
    const unsigned failed = fail_noted() + fail_for_limits();
    unsigned events = failed + empty_trash() + resume_peers();
    for (uct::iface* polled : slow_)
        events += polled->progress();
    accessor_.leave();  // ends the access of puts that are received in place, in pieces
    until_events_ += turn_;
    turn_ = 0;
    if (until_events_ >= event_turns || (slow_.empty() && fast_.empty())) {
        until_events_ = 0;
        events += progress_events();
        if (found + events == 0) publish(events::worker_idle{*this});
    }
    // If one peer has failed for a limit, the next one may have to.
    bool again = failed > 0 || !failing_peers_.empty() || !resuming_peers_.empty();
    publish(events::slow_progress_ended{*this, again});
    if (again) turn_ = slow_turn_;
    return events;
}

unsigned worker::progress_events() {
    if (!fast_.empty()) {
        const ucs::time::nanoseconds now = ucs::time::now();
        if (now < events_due_) return 0;
        events_due_ = now + event_pause;
    }
    unsigned events = events_->poll(0);
    publish(events::descriptors_polled{*this, events});
    events += poll_unused();
    publish(events::everything_polled{*this});
    return events;
}

unsigned worker::fail_noted() {
    unsigned count = 0;
    while (!failing_peers_.empty()) {
        peer& failing = failing_peers_.front();
        failing_peers_.pop_front();
        if (!failing.control().has_passed_limit()) {
            failing.fail_alive(UCS_ERR_NO_MEMORY);
        } else if (failing.connection != 0) {
            end_connection(failing.connection, UCS_ERR_EXCEEDS_LIMIT);
        }
        ++count;
    }
    return count;
}

unsigned worker::fail_for_limits() {
    unsigned failed = fail_for_limit(
        waiting_, [](const peer& each) -> const limit_share& { return each.waiting_share; },
        "does not take the answers that it asks for");
    publish(events::limits_checked{*this, failed});
    return failed;
}

unsigned worker::fail_for_limit(const shared_limit& limit, peer_table::share_getter share_of,
                                const char* does) {
    if (!limit.is_passed()) return 0;
    peer* const most = peers_.find_with_most(share_of);
    if (most == nullptr) return 0;
    rejected_.warn(proto_log,
                   "worker {:x} {}: {} bytes are kept for it, and {} for all peers; its "
                   "endpoints fail",
                   most->uid(), does, share_of(*most).used(), limit.used());
    most->fail_for_limit();
    return 1;
}

unsigned worker::resume_peers() {
    unsigned count = 0;
    while (!resuming_peers_.empty()) {
        peer& ready = resuming_peers_.front();
        resuming_peers_.pop_front();
        publish(events::peer_resumed{ready});
        ++count;
    }
    return count;
}

void worker::complete_in_order(request& done, ucs_status_t status) {
    if (ended_.empty()) {
        complete(done, status);
        return;
    }
    done.status = status;
    complete_later(done);
}

void worker::run_ended() {
    while (!ended_.empty()) {
        request& next = ended_.front();
        ended_.pop_front();
        complete(next, next.status);
    }
}

// Interfaces without lanes of ours may have been reached by a peer: they are polled like others
// until nothing more comes. The same holds for interfaces whose last lane, for connection data, is
// closed.
unsigned worker::poll_unused() {
    unsigned events = 0;
    for (std::size_t i = 0; i < interfaces_.size(); ++i) {
        uct::iface* const each = interfaces_[i].get();
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

void worker::pack_addresses() {
    address::worker_address address;
    address.identity = identity_.public_half();
    address.name = params_.name;
    const auto& resources = context_.resources();
    if (std::any_of(resources.begin(), resources.end(),
                    [](const usable_resource& each) { return each.only_connects; })) {
        address.flags |= address::network_only_connects;
    }
    for (std::size_t i = 0; i < interfaces_.size(); ++i) {
        if (interfaces_[i] == nullptr) continue;
        const uct::iface_attr& attr = interfaces_[i]->attr();
        address::entry entry{resources[i].where.transport,
                             resources[i].where.device,
                             attr.reach,
                             static_cast<float>(attr.latency + extra_latencies_[i]),
                             static_cast<float>(attr.bandwidth),
                             static_cast<float>(attr.overhead),
                             std::vector<std::byte>(attr.address_length)};
        interfaces_[i]->pack_address(entry.iface_address);
        address.entries.push_back(std::move(entry));
    }
    full_address_ = address::pack(address, false);
    net_address_ = address::pack(address, true);
}

void worker::track_lane(const uct::ep& lane, std::size_t resource, peer* owner) {
    if (owner == nullptr) {
        lanes_.erase(&lane);
        --lane_counts_[resource];
        return;
    }
    lanes_[&lane] = owner;
    ++lane_counts_[resource];
    const uct::iface_attr& attr = interfaces_[resource]->attr();
    memory_lanes_ =
        memory_lanes_ || (attr.reach != uct::scope::process && attr.ops.has(uct::op::am_short) &&
                          attr.cost == uct::poll_cost::memory);
}

std::optional<ucs::security::key> worker::agree(const ucs::security::public_key& other) noexcept {
    if (!last_agreement_ || last_agreement_->with != other)
        last_agreement_.emplace(agreement{other, identity_.agree(other)});
    return last_agreement_->key;
}

std::uint64_t worker::connection_of(const uct::peer_bytes& message) const noexcept {
    for (const auto& each : interfaces_) {
        const std::uint64_t found = each == nullptr ? 0 : each->connection_of(message);
        if (found != 0) return found;
    }
    return 0;
}

std::vector<std::uint64_t> worker::living_connections() const {
    std::vector<std::uint64_t> all;
    for (const auto& each : interfaces_)
        if (each != nullptr) each->append_connections(all);
    std::ranges::sort(all);
    return all;
}

void worker::end_connection(std::uint64_t connection, ucs_status_t status) {
    for (const auto& each : interfaces_)
        if (each != nullptr && each->end_connection(connection, status)) break;
    // An interface does not know which endpoints send to the origin of a connection.
    while (peer* const behind = peers_.find_behind(connection)) {
        behind->connection = 0;
        behind->fail_alive(status);
    }
}

void worker::destroy_later(ep& done) {
    done.unwanted_hook.unlink();
    trash_eps_.push_back(done);
    turn_ = slow_turn_;  // the next progress destroys it
    note_work();
}

void worker::destroy_later(peer& done) {
    done.trash_hook.unlink();
    trash_peers_.push_back(done);
    turn_ = slow_turn_;
    note_work();
}

unsigned worker::empty_trash() {
    while (!trash_eps_.empty()) {
        ep* gone = &trash_eps_.front();
        trash_eps_.pop_front();
        endpoints_.erase(gone->id());
        delete gone;
    }
    while (!trash_peers_.empty()) {
        peer* gone = &trash_peers_.front();
        trash_peers_.pop_front();
        bool is_needed = gone->is_held();  // the peer is in use again
        if (!is_needed) publish(events::peer_unused{*gone, is_needed});
        if (is_needed) continue;
        peers_.erase(*gone);
        if (!ending_) publish(events::peer_destroyed{*this});
    }
    return 0;
}

void worker::fail_later(peer& failing) noexcept {
    if (!failing.failing_hook.is_linked()) failing_peers_.push_back(failing);
    turn_ = slow_turn_;
    note_work();
}

void worker::resume_later(peer& ready) noexcept {
    if (!ready.resuming_hook.is_linked()) resuming_peers_.push_back(ready);
    turn_ = slow_turn_;
    note_work();
}

std::string worker::info() const {
    std::string text = "#\n# UCP worker ";
    text += fmt::format("'{}'\n#\n", params_.name);
    text += fmt::format("#                 uid: {:x}\n", uid_);
    text += fmt::format("#             address: {} bytes, {} bytes for other hosts\n",
                        full_address_.size(), net_address_.size());
    text += fmt::format("#           endpoints: {}\n", endpoints_.size());
    const auto& resources = context_.resources();
    for (std::size_t i = 0; i < resources.size(); ++i) {
        const uct::resource& where = resources[i].where;
        text += fmt::format("#    interface {:<2}    : {}/{}{}\n", i, where.transport, where.device,
                            interfaces_[i] == nullptr ? ", left out: " + not_opened_[i] : "");
    }
    std::string details;
    publish(events::worker_described{*this, text, details});
    text += fmt::format("#      sends deferred: {}\n", peers_.deferred_count());
    text += fmt::format("#     answers waiting: {} bytes\n", waiting_.used());
    text += fmt::format("#   messages rejected: {}\n", rejected_.count());
    text += details;
    const_cast<worker*>(this)->endpoints_.for_each(
        [&text](const ep& each) { text += each.line(); });
    text += "#\n";
    return text;
}

}  // namespace ucp
