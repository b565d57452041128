#include "ucg/core/group_fabric.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "ucg/node/operation.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg {
namespace {

// A step that the engine has. Owns itself until the engine ended it.
struct job {
    job(node::engine& by, schedule::step& what) noexcept : work(by), of(what) {}

    static void on_end(node::operation& ended, void* argument) noexcept {
        const std::unique_ptr<job> self(static_cast<job*>(argument));
        schedule::step& of = self->of;
        const ucs_status_t status = ended.status();
        of.state = nullptr;
        of.owner->complete(of, status);
    }

    node::operation work;
    schedule::step& of;
};

}  // namespace

// Others have to wait for their turn.
std::vector<schedule::rank_t> group_fabric::missing_on_node(const schedule::operation& what) const {
    if (turns_.empty() || turns_.front() != &what) return {};
    const auto here = where_.on(where_.node_of(rank()));
    std::vector<schedule::rank_t> ranks = engine_->missing();
    std::ranges::transform(ranks, ranks.begin(), [&](node::rank_t each) { return here[each]; });
    std::ranges::sort(ranks);
    return ranks;
}

void group_fabric::post(schedule::step& what) noexcept {
    if (what.what != schedule::action::together) {
        messages_.post(what);
    } else if (engine_ == nullptr) {
        what.owner->complete(what, UCS_ERR_UNSUPPORTED);
    } else if (!turns_.empty() && turns_.front() == what.owner) {
        run(what);
    } else {
        try {
            waiting_.push_back(&what);
        } catch (const std::bad_alloc&) {
            what.owner->complete(what, UCS_ERR_NO_MEMORY);
        }
    }
}

void group_fabric::run(schedule::step& what) noexcept {
    std::unique_ptr<job> made(new (std::nothrow) job(*engine_, what));
    ucs_status_t status = made == nullptr ? UCS_ERR_NO_MEMORY : made->work.init(*what.asked);
    if (status != UCS_OK) {
        // The others wait for this rank in the engine: there is no going on.
        engine_->fail(status);
        what.owner->complete(what, status);
        return;
    }
    what.state = made.get();
    made->work.on_end(job::on_end, made.get());
    made.release()->work.start();
}

void group_fabric::cancel(schedule::step& what) noexcept {
    if (what.what != schedule::action::together) {
        messages_.cancel(what);
    } else if (what.state != nullptr) {
        engine_->fail(UCS_ERR_CANCELED);
    } else if (std::erase(waiting_, &what) != 0) {
        what.owner->complete(what, UCS_ERR_CANCELED);
    }
}

ucs_status_t group_fabric::enter(schedule::operation& what, schedule::sequence_t& number) noexcept {
    ucs_status_t status = messages_.enter(what, number);
    if (!what.uses_nodes() || engine_ == nullptr) return status;
    try {
        turns_.push_back(&what);
    } catch (const std::bad_alloc&) {
        status = UCS_ERR_NO_MEMORY;
    }
    return status;
}

void group_fabric::leave(schedule::operation& what) noexcept {
    std::erase(turns_, &what);
    messages_.leave(what);
    // What one rank of the node left out another may have asked the engine for: from here on they
    // would do different things together.
    if (what.uses_nodes() && engine_ != nullptr && what.status() != UCS_OK)
        engine_->fail(what.status());
    // Those of the next in turn, in the order in which it asked.
    while (!turns_.empty()) {
        const auto next = std::ranges::find(waiting_, turns_.front(), &schedule::step::owner);
        if (next == waiting_.end()) return;
        schedule::step& first = **next;
        waiting_.erase(next);
        run(first);
    }
}

}  // namespace ucg
