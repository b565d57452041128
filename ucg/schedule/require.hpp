// An awaitable check: an algorithm continues only if a status is UCS_OK.
#pragma once

#include <coroutine>

#include "ucg/schedule/member.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::schedule {

// co_await require(me, status): if the status is UCS_OK, the coroutine continues. Otherwise the
// operation fails with this status on every rank, and the coroutine is not resumed.
class [[nodiscard]] require {
public:
    require(member& me, ucs_status_t status) noexcept : owner_(me.owner()), status_(status) {}

    [[nodiscard]] bool await_ready() const noexcept { return status_ == UCS_OK; }
    void await_suspend(std::coroutine_handle<>) const noexcept { owner_.fail(status_); }
    void await_resume() const noexcept {}

private:
    operation& owner_;
    ucs_status_t status_;
};

}  // namespace ucg::schedule
