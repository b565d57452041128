// What the C handles of MoE are, and how its requests are made.
#pragma once

#include <ucg/api/ucg_moe.h>

#include <memory>
#include <utility>
#include <vector>

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
    std::vector<ucg_moe_range_t> ranges;
};

namespace ucg::capi {

// What ranks compare where they check that they call the same (signature).
enum class exchange_kind : std::uint32_t {
    notify,
    notify_dispatch,
    dispatch,
    combine,
    low_latency_dispatch,
    low_latency_combine,
};

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

// Makes the request of an exchange that `init` prepares. There is a request also where `init`
// returns an error, with which it ends on every rank when it is started.
template<class Exchange, class Init>
ucs_status_t make_request(group& of, exchange_kind kind, const char* name, program_starts starts,
                          ucg_request_h* request_p, Init&& init) {
    auto made = std::make_unique<kept_exchange<Exchange>>();
    const ucs_status_t status = init(*made);
    made->refuse(status);
    auto request = std::make_unique<program_request>(of, std::move(made), name,
                                                     static_cast<std::uint32_t>(kind), starts);
    ++of.requests();
    *request_p = handle(*request.release());
    return status;
}

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

}  // namespace ucg::capi
