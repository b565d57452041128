#include "ucp/cm/manager.hpp"

#include <algorithm>
#include <new>

#include "ucp/cm/conn_request.hpp"
#include "ucp/cm/listener.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"

namespace ucp::cm {

namespace {
// Per progress, so that a flood of connections does not keep messages waiting.
constexpr unsigned tasks_at_once = 64;
}  // namespace

manager::manager(worker& owner) : owner_(owner), requests_(std::make_shared<unanswered>()) {}

manager::~manager() {
    listeners_.clear();
    requests_->clear();
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

void manager::add(std::unique_ptr<listener> fresh) {
    listeners_.push_back(std::move(fresh));
}

void manager::remove(const listener& done) {
    std::erase_if(listeners_, [&](const auto& each) { return each.get() == &done; });
}

ucs::time::nanoseconds manager::patience() const noexcept {
    return ucs::time::from_seconds(std::min(owner_.owner().options().cm_timeout.seconds, 1e6));
}

}  // namespace ucp::cm
