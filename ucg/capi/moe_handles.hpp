// What the C handles of MoE are, and how its requests are made.
#pragma once

#include <ucg/api/ucg_moe.h>

#include <memory>
#include <utility>

#include "ucg/capi/handles.hpp"
#include "ucg/core/program_request.hpp"
#include "ucg/moe/expansion.hpp"
#include "ucg/moe/plan.hpp"
#include "ucg/moe/slots.hpp"
#include "ucg/schedule/require.hpp"

// Owned by the program. The group outlives them; what they point to is shared with requests.
struct ucg_moe_team {
    ucg::group& of;
    std::shared_ptr<const ucg::moe::team> who;
};

struct ucg_moe_handle {
    ucg::group& of;
    std::shared_ptr<const ucg::moe::plan> by;
};

struct ucg_moe_expansion {
    std::shared_ptr<const ucg::moe::plan> by;  // that its rows are of
    std::shared_ptr<const ucg::moe::expansion> rows;
};

struct ucg_moe_slots {
    ucg::group& of;
    std::shared_ptr<const ucg::moe::slots> by;
};

namespace ucg::capi {

// An exchange with what it points to, and with what is wrong about how it was asked for. Owned by
// its request. Owner context.
template<class Exchange>
class kept_exchange final : public schedule::program {
public:
    [[nodiscard]] Exchange& what() noexcept { return what_; }
    void keep(std::shared_ptr<const void> used) noexcept { used_ = std::move(used); }
    void refuse(ucs_status_t why) noexcept { refused_ = why; }
    // Whether there is a result of the last start. Says so once, where it is taken away.
    [[nodiscard]] bool has_result() const noexcept { return result_; }
    [[nodiscard]] bool take_result() noexcept { return std::exchange(result_, false); }

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override {
        return run_checked(me, *this);
    }
    [[nodiscard]] std::uint64_t form() const noexcept override {
        return refused_ != UCS_OK ? 0 : what_.form();
    }

private:
    static schedule::task run_checked(schedule::member& me, kept_exchange& of) {
        of.result_ = false;
        co_await schedule::require(me, of.refused_);
        schedule::task all = of.what_.run(me);
        co_await all;
        of.result_ = true;
    }

    Exchange what_;
    std::shared_ptr<const void> used_;
    ucs_status_t refused_ = UCS_OK;
    bool result_ = false;
};

// The exchange of a request; nullptr: it is of another kind.
template<class Exchange>
kept_exchange<Exchange>* exchange_of(request& what) noexcept {
    auto* const program = dynamic_cast<program_request*>(&what);
    return program == nullptr ? nullptr : dynamic_cast<kept_exchange<Exchange>*>(&program->what());
}

// Copies what the caller's version of a struct has over the defaults in `all`.
template<class Struct>
ucs_status_t take(const char* call, const Struct* given, Struct& all) noexcept {
    if (given == nullptr) return refuse(call, "a struct of arguments is NULL");
    if (given->struct_size < sizeof given->struct_size)
        return refuse(call, "a struct of arguments was not initialised by its _INIT macro");
    std::memcpy(&all, given, std::min(given->struct_size, sizeof all));
    all.struct_size = sizeof all;
    return UCS_OK;
}

// What an init makes a request of.
template<class Handle, class Args>
struct asked {
    const char* call;
    program_kind kind;
    program_starts starts;
    Handle* from;  // has the group
    const Args* args;
    ucg_request_h* request_p;
};

// What all inits do. `all`: the defaults of the arguments; `prepare(made, all)` makes the exchange.
// There is a request also where that returns an error, with which it ends on every rank when it is
// started; there is none where something is NULL.
template<class Exchange, class Handle, class Args, class Prepare>
ucs_status_t make_request(const asked<Handle, Args>& by, Args all, Prepare&& prepare) {
    if (by.request_p == nullptr) return refuse(by.call, "request_p is NULL");
    *by.request_p = nullptr;
    if (by.from == nullptr) return refuse(by.call, "what the request is to be made of is NULL");
    if (const ucs_status_t status = take(by.call, by.args, all); status != UCS_OK) return status;
    group& of = by.from->of;
    return guarded(of.of(), [&] {
        auto made = std::make_unique<kept_exchange<Exchange>>();
        const ucs_status_t status = prepare(*made, all);
        made->refuse(status);
        auto request =
            std::make_unique<program_request>(of, std::move(made), by.kind, by.starts, all.timeout,
                                              request::listener{all.callback, all.callback_arg});
        ++of.requests();
        *by.request_p = handle(*request.release());
        return status;
    });
}

}  // namespace ucg::capi
