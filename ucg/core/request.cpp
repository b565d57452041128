#include "ucg/core/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <span>

#include "ucg/core/group.hpp"
#include "ucg/schedule/log.hpp"

namespace ucg {
namespace {

using schedule::rank_t;

// "3, 5, 7 and 12 others"
std::string text_of(const std::vector<rank_t>& ranks) {
    constexpr std::size_t most = 20;
    const std::size_t shown = std::min(most, ranks.size());
    std::string text = fmt::format("{}", fmt::join(std::span(ranks).first(shown), ", "));
    if (shown != ranks.size()) text += fmt::format(" and {} others", ranks.size() - shown);
    return text;
}

}  // namespace

request::request(group& group, double timeout, const listener& callback) noexcept
    : group_(group), callback_(callback) {
    const double limit = timeout > 0 ? timeout : group_.get_context().options().timeout.seconds;
    constexpr double longest = 1e9;  // about thirty years
    if (limit > 0 && limit < longest) timeout_ = static_cast<ucs::time::nanoseconds>(limit * 1e9);
}

void request::set_work(schedule::runnable* work) noexcept {
    work_ = work;
    if (work_ == nullptr) return;
    work_->on_end([](schedule::runnable& ended,
                     void* self) { static_cast<request*>(self)->end(ended.status()); },
                  this);
}

// Without work, this rank does not know where the others wait for it.
void request::begin_failed(ucs_status_t why) noexcept {
    if (work_ != nullptr) return work_->start_failed(why);
    if (group_.size() > 1) group_.fabric().withdraw(why);
    end(why);
}

ucs_status_t request::start() noexcept {
    if (status_ == UCS_INPROGRESS) return UCS_ERR_BUSY;
    if (const ucs_status_t refused = may_start(); refused != UCS_OK) return refused;
    status_ = UCS_INPROGRESS;
    missed_.clear();
    if (timeout_ != 0) {
        deadline_ = ucs::time::now() + timeout_;
        group_.watch(*this);
    }
    comparing_ = group_.compared().is_enabled();
    if (comparing_)
        group_.compared().compare(*this);
    else
        begin();
    return UCS_OK;
}

void request::run() noexcept {
    comparing_ = false;
    begin();
}

void request::skip(ucs_status_t why) noexcept {
    comparing_ = false;
    begin_failed(why);
}

void request::end(ucs_status_t status) noexcept {
    comparing_ = false;
    deadline_ = 0;
    timed_hook.unlink();
    // The callback may free the request as soon as it has ended. Other requests may end after it
    // has.
    const listener callback = callback_;
    agreement& compared = group_.compared();
    if (compared.is_enabled()) compared.leave(*this);
    status_ = status;
    if (callback.call != nullptr)
        callback.call(reinterpret_cast<ucg_request_h>(this), status, callback.arg);
    if (compared.is_enabled()) compared.start_next();
}

void request::fail(ucs_status_t why) noexcept {
    if (status_ != UCS_INPROGRESS) return;
    if (comparing_)
        group_.compared().stop(*this, why);
    else if (work_ != nullptr)
        work_->fail(why);
}

ucs_status_t request::set_buffers(const void*, void*) noexcept {
    ucs::log::error(core_log, "{}: its memory cannot be replaced", name());
    return UCS_ERR_UNSUPPORTED;
}

std::vector<rank_t> request::missing_now() const {
    if (comparing_) return group_.compared().missing();
    return work_ != nullptr ? work_->missing() : std::vector<rank_t>();
}

std::vector<rank_t> request::missing() const {
    return status_ == UCS_INPROGRESS ? missing_now() : missed_;
}

void request::expire() noexcept try {
    timed_hook.unlink();  // once
    missed_ = missing_now();
    ucs::log::error(core_log, "{} timed out after {:.3g} s on rank {} of {}: {}{}", name(),
                    static_cast<double>(timeout_) / 1e9, group_.rank(), group_.size(),
                    missed_.empty() ? "it waits for nobody in particular" : "it waits for rank ",
                    text_of(missed_));
    fail(UCS_ERR_TIMED_OUT);
} catch (const std::bad_alloc&) {
    fail(UCS_ERR_TIMED_OUT);
}

}  // namespace ucg
