#include "ucg/core/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "ucg/core/group.hpp"
#include "ucg/core/log.hpp"

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

ucs::result<std::unique_ptr<request>> request::make(group& of, const ucg_coll_args_t& args) {
    auto checked = arguments::check(args, of.rank(), of.size());
    if (!checked) return checked.status();
    checked->what.sizes = of.of().sizes();
    std::unique_ptr<request> made(new request(of, args, std::move(*checked)));
    if (const ucs_status_t status = made->prepare(); status != UCS_OK) return status;
    return made;
}

request::~request() {
    group_.forget(*this);
}

ucs_status_t request::prepare() {
    if (args_.algorithm != nullptr) algorithm_ = args_.algorithm;
    const double limit = args_.timeout > 0 ? args_.timeout : group_.of().options().timeout.seconds;
    constexpr double longest = 1e9;  // about thirty years
    if (limit > 0 && limit < longest) timeout_ = static_cast<ucs::time::nanoseconds>(limit * 1e9);

    bool engine = false;
    if (group_.engine() != nullptr && group_.where().nodes() == 1) {
        near_.emplace(*group_.engine());
        const ucs_status_t status = near_->init(checked_.what);
        if (status != UCS_OK && status != UCS_ERR_UNSUPPORTED) return status;
        engine = status == UCS_OK;
    }
    const schedule::shape shape = group_.shape_of(checked_.what, checked_.bytes);
    const auto chosen = group_.of().selector().choose(
        {checked_.what, shape, group_.links(), checked_.deterministic, engine, algorithm_});
    if (!chosen) return chosen.status();
    choice_ = *chosen;
    if (choice_.by == nullptr) {
        near_->on_end([](node::operation& ended,
                         void* self) { static_cast<request*>(self)->end(ended.status()); },
                      this);
        return UCS_OK;
    }
    near_.reset();
    spread_.emplace(group_.over(), group_.frames());
    spread_->on_end([](schedule::operation& ended,
                       void* self) { static_cast<request*>(self)->end(ended.status()); },
                    this);
    return spread_->init(*choice_.by, checked_.what);
}

ucs_status_t request::start() noexcept {
    if (status_ == UCS_INPROGRESS) return UCS_ERR_BUSY;
    status_ = UCS_INPROGRESS;
    missed_.clear();
    if (timeout_ != 0) {
        deadline_ = ucs::time::now() + timeout_;
        group_.watch(*this);
    }
    checking_ = group_.checks();
    if (checking_)
        group_.compare(*this);
    else
        run();
    return UCS_OK;
}

void request::run() noexcept {
    checking_ = false;
    if (near_)
        near_->start();
    else
        spread_->start();
}

void request::end(ucs_status_t status) noexcept {
    checking_ = false;
    status_ = status;
    if (deadline_ != 0) {
        deadline_ = 0;
        group_.forget(*this);
    }
    if (group_.checks()) group_.compare_next(*this);
    if (args_.callback != nullptr)
        args_.callback(reinterpret_cast<ucg_request_h>(this), status, args_.callback_arg);
}

ucs_status_t request::set_buffers(const void* from, void* into) noexcept {
    if (status_ == UCS_INPROGRESS) return UCS_ERR_BUSY;
    ucg_coll_args_t changed = args_;
    changed.src = from;
    changed.dst = into;
    const ucs_status_t status = arguments::check_buffers(changed, group_.rank(), group_.size());
    if (status != UCS_OK) return status;
    args_ = changed;
    schedule::call& what = near_ ? near_->arguments() : spread_->arguments();
    what.from = from;
    what.into = into;
    return UCS_OK;
}

void request::fail(ucs_status_t why) noexcept {
    if (status_ != UCS_INPROGRESS) return;
    if (checking_)
        group_.stop_comparing(*this, why);
    else if (near_)
        group_.engine()->fail(why);
    else
        spread_->fail(why);
}

std::vector<rank_t> request::missing_now() const {
    if (checking_) return group_.missing_in_comparison();
    if (near_) return group_.engine()->missing();
    std::vector<rank_t> ranks = spread_->missing();
    if (spread_->uses_nodes() && group_.engine() != nullptr) {
        const auto here = group_.where().on(group_.where().node_of(group_.rank()));
        for (const rank_t each : group_.engine()->missing())
            ranks.push_back(here[each]);
        std::ranges::sort(ranks);
        const auto same = std::ranges::unique(ranks);
        ranks.erase(same.begin(), same.end());
    }
    return ranks;
}

std::vector<rank_t> request::missing() const {
    return status_ == UCS_INPROGRESS ? missing_now() : missed_;
}

void request::expire() noexcept try {
    missed_ = missing_now();
    ucs::log::error(
        core_log, "{} timed out after {:.3g} s on rank {} of {}: {}{}", ucg_coll_name(args_.coll),
        static_cast<double>(timeout_) / 1e9, group_.rank(), group_.size(),
        missed_.empty() ? "it waits for nobody in particular" : "nothing has come from rank ",
        text_of(missed_));
    fail(UCS_ERR_TIMED_OUT);
} catch (const std::bad_alloc&) {
    fail(UCS_ERR_TIMED_OUT);
}

}  // namespace ucg
