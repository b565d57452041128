// A condition without which an algorithm cannot go on.
#pragma once

#include <coroutine>

#include "ucg/schedule/member.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::schedule {

// co_await require(me, status): goes on where it is UCS_OK; else the operation has failed with it,
// on every rank, and this coroutine is not resumed any more.
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
