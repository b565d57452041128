#include "ucp/cm/manager.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/listener.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp::cm {

namespace {
// Limit per progress, so that a flood of connections does not delay messages.
constexpr unsigned tasks_at_once = 64;
// A final flush takes as long as one message; if the other side is gone it never ends.
constexpr ucs::time::nanoseconds drain_timeout = 2 * ucs::time::second;
// Limit on channels that are being drained, so that clients which read nothing do not use up the
// process: beyond it the oldest channel is closed.
constexpr std::size_t most_draining = 64;
constexpr ucs::time::nanoseconds final_drain_timeout = 100 * ucs::time::millisecond;
// Limits on clients that were accepted and have not answered. A thousand processes may start at the
// same time; each takes an endpoint and a descriptor meanwhile.
constexpr ucs::net::admission_limits accepted_limits{
    .most = 1024, .most_per_origin = 768, .time_to_prove = ucs::net::admission::never};
// A client answers in its progress; before that it may be stopped or compute for some time.
constexpr ucs::time::nanoseconds least_time_to_answer = 60 * ucs::time::second;
}  // namespace

// A channel whose last frames are on their way.
struct manager::draining_channel {
    draining_channel(manager& from, std::unique_ptr<channel> done) noexcept
        : parent(from), connection(std::move(done)) {}
    ~draining_channel() {
        events().remove(connection->fd());
        if (deadline != 0) events().remove_timer(deadline);
    }
    draining_channel(const draining_channel&) = delete;
    draining_channel& operator=(const draining_channel&) = delete;
    [[nodiscard]] ucs::async::event_loop& events() const noexcept {
        return parent.owner().events();
    }

    manager& parent;
    const std::unique_ptr<channel> connection;
    ucs::async::event_loop::timer_id deadline = 0;
};

manager::manager(worker& owner)
    : owner_(owner), requests_(std::make_shared<pending_requests>()), accepted_(accepted_limits) {}

manager& manager_of(worker& owner) {
    std::unique_ptr<manager>& made = slot_of<connections>(owner).manager;
    if (made == nullptr) made = std::make_unique<manager>(owner);
    return *made;
}

std::uint64_t manager::next_number() noexcept {
    return peer_endpoints::first_socket_number | ++numbers_;
}

manager::~manager() {
    listeners_.clear();
    requests_->clear(*this);
    const ucs::time::nanoseconds until = ucs::time::now() + final_drain_timeout;
    while (!draining_.empty() && ucs::time::now() < until)
        std::erase_if(draining_,
                      [](const draining_channel& each) { return each.connection->finish(); });
}

void manager::drain(std::unique_ptr<channel> done) noexcept {
    if (done->finish()) return;
    if (draining_.size() == most_draining) draining_.pop_front();
    try {
        draining_.emplace_back(*this, std::move(done));
    } catch (const std::bad_alloc&) {
        return;
    }
    // The handlers are small enough that storing them allocates no memory.
    const auto entry = std::prev(draining_.end());
    entry->deadline = owner_.events().add_timer(
        drain_timeout, [this, entry] { draining_.erase(entry); }, true);
    const ucs_status_t watched =
        owner_.events().add(entry->connection->fd(), EPOLLIN, [this, entry](std::uint32_t) {
            if (entry->connection->finish()) draining_.erase(entry);
        });
    if (entry->deadline == 0 || watched != UCS_OK) draining_.erase(entry);
}

void manager::note(task& todo) noexcept {
    if (todo.task_hook.is_linked()) return;
    tasks_.push_back(todo);
    owner_.schedule().request_full_progress();
}

unsigned manager::dispatch() noexcept {
    unsigned count = 0;
    for (; count < tasks_at_once && !tasks_.empty(); ++count) {
        task& next = tasks_.front();
        tasks_.pop_front();
        try {
            next.run();
        } catch (const std::bad_alloc&) {
            ucs::log::error(wireup_log, "out of memory: a connection by socket address is lost");
        }
    }
    if (!tasks_.empty()) owner_.schedule().request_full_progress();
    return count;
}

ucs_status_t manager::add_accepted(accepted_client& fresh,
                                   const uct::tcp::socket_address& from) noexcept {
    if (job_key() != nullptr) return UCS_OK;
    const auto now = ucs::time::now();
    const ucs_status_t status = accepted_.add(fresh, ucs::net::origin::host(from.ip()), now);
    if (accepted_.size() < accepted_limits.most_per_origin / 2) has_reported_accepted_ = false;
    while (auto* const surplus = accepted_.excess(now)) {
        if (!std::exchange(has_reported_accepted_, true)) {
            owner_.log().rejected().warn(
                wireup_log,
                "{} clients have not answered since they were accepted, the "
                "last one from {}; the oldest ones are closed",
                accepted_.size(), from.text());
        }
        accepted_.remove(*surplus);
        static_cast<accepted_client*>(surplus)->on_displaced();
    }
    return status;
}

void manager::remove_accepted(accepted_client& done) noexcept {
    accepted_.remove(done);
}

void manager::add(std::unique_ptr<listener> fresh) {
    listeners_.push_back(std::move(fresh));
}

void manager::remove(const listener& done) {
    std::erase_if(listeners_, [&](const auto& each) { return each.get() == &done; });
}

std::vector<transport> manager::transports(const char* function) const {
    const context& whole = owner_.owner();
    std::vector<transport> found = whole.options().cm_transports.usable(whole.has_rdma_devices());
    if (found.empty()) {
        ucs::log::error(wireup_log,
                        "{}: UCX_SOCKADDR_TLS_PRIORITY has rdmacm only, and there is no RDMA "
                        "device in use; tcp always works",
                        function);
    }
    return found;
}

const ucs::security::key* manager::job_key() const noexcept {
    return owner_.owner().job_key();
}

ucs::time::nanoseconds manager::connect_timeout() const noexcept {
    return ucs::time::from_seconds(std::min(owner_.owner().options().cm_timeout.seconds, 1e6));
}

ucs::time::nanoseconds manager::time_to_answer() const noexcept {
    return std::max(connect_timeout(), least_time_to_answer);
}

}  // namespace ucp::cm
