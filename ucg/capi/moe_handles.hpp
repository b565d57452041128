// The structs behind the C handles of MoE, and the creation of MoE requests.
#pragma once

#include <ucg/api/ucg_moe.h>

#include <memory>
#include <utility>

#include "ucg/capi/handles.hpp"
#include "ucg/core/program_request.hpp"
#include "ucg/moe/low_latency/slots.hpp"
#include "ucg/moe/plan/expansion.hpp"
#include "ucg/moe/plan/plan.hpp"
#include "ucg/schedule/operation.hpp"

// Owned by the program. The group outlives them. Requests share the objects that they point to.
struct ucg_moe_team {
    ucg::group& group;
    std::shared_ptr<const ucg::moe::team> team;
};

struct ucg_moe_handle {
    ucg::group& group;
    std::shared_ptr<const ucg::moe::plan> plan;
};

struct ucg_moe_expansion {
    std::shared_ptr<const ucg::moe::plan> plan;  // the plan that the rows belong to
    std::shared_ptr<const ucg::moe::expansion> rows;
};

struct ucg_moe_slots {
    ucg::group& group;
    std::shared_ptr<const ucg::moe::slots> slots;
};

namespace ucg::capi {

// An exchange with the objects that it uses, and with the error of its arguments. Owned by its
// request. Owner context.
template<class Exchange>
class kept_exchange final : public schedule::program {
public:
    [[nodiscard]] Exchange& exchange() noexcept { return exchange_; }
    void keep(std::shared_ptr<const void> object) noexcept { kept_ = std::move(object); }
    void refuse(ucs_status_t status) noexcept { refused_ = status; }
    // True if the last start has a result. take_result() returns true only once.
    [[nodiscard]] bool has_result() const noexcept { return has_result_; }
    [[nodiscard]] bool take_result() noexcept { return std::exchange(has_result_, false); }

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override {
        has_result_ = false;
        co_await schedule::require(me, refused_);
        schedule::task all = exchange_.run(me);
        co_await all;
        has_result_ = true;
    }
    [[nodiscard]] std::uint64_t form() const noexcept override {
        return refused_ != UCS_OK ? 0 : exchange_.form();
    }

private:
    Exchange exchange_;
    std::shared_ptr<const void> kept_;
    ucs_status_t refused_ = UCS_OK;
    bool has_result_ = false;
};

// Returns the exchange of a request; nullptr: it is of another kind.
template<class Exchange>
kept_exchange<Exchange>* exchange_of(request& self) noexcept {
    auto* const program = dynamic_cast<program_request*>(&self);
    return program == nullptr ? nullptr : dynamic_cast<kept_exchange<Exchange>*>(&program->what());
}

// Copies the members that the caller's version of a struct has over the defaults in `all`.
template<class Struct>
ucs_status_t read_args(const char* call, const Struct* given, Struct& all) noexcept {
    if (given == nullptr) return refuse(call, "a struct of arguments is NULL");
    if (given->struct_size < sizeof given->struct_size)
        return refuse(call, "a struct of arguments was not initialised by its _INIT macro");
    std::memcpy(&all, given, std::min(given->struct_size, sizeof all));
    all.struct_size = sizeof all;
    return UCS_OK;
}

// The arguments of an init function.
template<class Handle, class Args>
struct init_call {
    const char* call;
    program_kind kind;
    program_starts starts;
    Handle* source;  // has the group
    const Args* args;
    ucg_request_h* request_p;
};

// The common part of all init functions. `all` has the defaults of the arguments, and
// `prepare(made, all)` sets up the exchange. If that fails, a request is made as well, which ends
// with the error on every rank when it is started. If a pointer is NULL there is no request.
template<class Exchange, class Handle, class Args, class Prepare>
ucs_status_t make_request(const init_call<Handle, Args>& init, Args all, Prepare&& prepare) {
    if (init.request_p == nullptr) return refuse(init.call, "request_p is NULL");
    *init.request_p = nullptr;
    if (init.source == nullptr)
        return refuse(init.call, "what the request is to be made of is NULL");
    if (const ucs_status_t status = read_args(init.call, init.args, all); status != UCS_OK)
        return status;
    group& self = init.source->group;
    const auto make = [&] {
        auto made = std::make_unique<kept_exchange<Exchange>>();
        const ucs_status_t status = prepare(*made, all);
        made->refuse(status);
        auto request = std::make_unique<program_request>(
            self, std::move(made), init.kind, init.starts, all.timeout,
            request::listener{all.callback, all.callback_arg});
        ++self.used_by().requests;
        *init.request_p = handle(*request.release());
        return status;
    };
    return with_lock(self.get_context(), make, init.call);
}

}  // namespace ucg::capi
