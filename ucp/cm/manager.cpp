#include "ucp/cm/manager.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/listener.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"

namespace ucp::cm {

namespace {
// Per progress, so that a flood of connections does not keep messages waiting.
constexpr unsigned tasks_at_once = 64;
// Last words take as long as one message; where the other side is gone they take for ever.
constexpr ucs::time::nanoseconds leaving_patience = 2 * ucs::time::second;
// Strangers that take nothing do not fill the process with them: then the oldest goes.
constexpr std::size_t most_leaving = 64;
constexpr ucs::time::nanoseconds last_patience = 100 * ucs::time::millisecond;
// Clients that were accepted and have not answered. A thousand processes may start at once; each
// costs an endpoint and a descriptor meanwhile.
constexpr ucs::net::admission_limits accepted_limits{
    .most = 1024, .most_per_origin = 768, .time_to_prove = ucs::net::admission::never};
// A client answers in its progress, and may be stopped or compute for some time before.
constexpr ucs::time::nanoseconds least_time_to_answer = 60 * ucs::time::second;
}  // namespace

// One whose last words are on their way.
struct manager::leaving {
    leaving(manager& from, std::unique_ptr<channel> done) noexcept
        : of(from), last_words(std::move(done)) {}
    ~leaving() {
        events().remove(last_words->fd());
        if (deadline != 0) events().remove_timer(deadline);
    }
    leaving(const leaving&) = delete;
    leaving& operator=(const leaving&) = delete;
    [[nodiscard]] ucs::async::event_loop& events() const noexcept { return of.owner().events(); }

    manager& of;
    const std::unique_ptr<channel> last_words;
    ucs::async::event_loop::timer_id deadline = 0;
};

manager::manager(worker& owner)
    : owner_(owner), requests_(std::make_shared<unanswered>()), accepted_(accepted_limits) {}

manager::~manager() {
    listeners_.clear();
    requests_->clear(*this);
    const ucs::time::nanoseconds until = ucs::time::now() + last_patience;
    while (!leaving_.empty() && ucs::time::now() < until)
        std::erase_if(leaving_, [](const leaving& each) { return each.last_words->finish(); });
}

void manager::see_off(std::unique_ptr<channel> done) noexcept {
    if (done->finish()) return;
    if (leaving_.size() == most_leaving) leaving_.pop_front();
    try {
        leaving_.emplace_back(*this, std::move(done));
    } catch (const std::bad_alloc&) {
        return;
    }
    // The handlers are small enough to need no memory.
    const auto place = std::prev(leaving_.end());
    place->deadline = owner_.events().add_timer(
        leaving_patience, [this, place] { leaving_.erase(place); }, true);
    const ucs_status_t watched =
        owner_.events().add(place->last_words->fd(), EPOLLIN, [this, place](std::uint32_t) {
            if (place->last_words->finish()) leaving_.erase(place);
        });
    if (place->deadline == 0 || watched != UCS_OK) leaving_.erase(place);
}

void manager::note(task& todo) noexcept {
    if (todo.task_hook.is_linked()) return;
    tasks_.push_back(todo);
    owner_.leave_for_progress();
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
    if (!tasks_.empty()) owner_.leave_for_progress();
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
            owner_.rejected().warn(wireup_log,
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

std::vector<carrier> manager::carriers(const char* function) const {
    const context& whole = owner_.owner();
    std::vector<carrier> found = whole.options().carriers.usable(whole.has_rdma_devices());
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

ucs::time::nanoseconds manager::patience() const noexcept {
    return ucs::time::from_seconds(std::min(owner_.owner().options().cm_timeout.seconds, 1e6));
}

ucs::time::nanoseconds manager::time_to_answer() const noexcept {
    return std::max(patience(), least_time_to_answer);
}

}  // namespace ucp::cm
