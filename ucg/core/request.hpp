// An operation of the program's that can be started again and again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ucg/core/arguments.hpp"
#include "ucg/node/operation.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/select/selector.hpp"
#include "ucs/time/clock.hpp"

namespace ucg {

class group;

// Owned by the program, or by the group for its blocking calls. Owner context.
class request {
public:
    // Statuses as ucg_request_init().
    static ucs::result<std::unique_ptr<request>> make(group& of, const ucg_coll_args_t& args);
    request(const request&) = delete;
    request& operator=(const request&) = delete;
    ~request();

    [[nodiscard]] ucs_status_t start() noexcept;
    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }
    [[nodiscard]] ucs_status_t set_buffers(const void* from, void* into) noexcept;
    // Ends it with an error, on every rank, if it runs.
    void fail(ucs_status_t why) noexcept;

    [[nodiscard]] group& of() const noexcept { return group_; }
    [[nodiscard]] const ucg_coll_args_t& args() const noexcept { return args_; }
    [[nodiscard]] const arguments& checked() const noexcept { return checked_; }
    [[nodiscard]] const select::choice& choice() const noexcept { return choice_; }
    [[nodiscard]] bool uses_engine() const noexcept { return near_.has_value(); }
    // The ranks that it waits for, or waited for when its time was up.
    [[nodiscard]] std::vector<schedule::rank_t> missing() const;

    // For the group: its time is up; its arguments are the same everywhere, or are not.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept { return deadline_; }
    void expire() noexcept;
    void run() noexcept;
    void end(ucs_status_t status) noexcept;

private:
    request(group& of, const ucg_coll_args_t& args, arguments checked) noexcept
        : group_(of), args_(args), checked_(std::move(checked)) {}
    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] std::vector<schedule::rank_t> missing_now() const;

    group& group_;
    ucg_coll_args_t args_;
    arguments checked_;
    select::choice choice_;
    std::string algorithm_;                // as asked for
    std::optional<node::operation> near_;  // one of these two
    std::optional<schedule::operation> spread_;
    ucs_status_t status_ = UCS_OK;
    bool checking_ = false;               // it has not begun: arguments are being compared
    ucs::time::nanoseconds timeout_ = 0;  // 0: none
    ucs::time::nanoseconds deadline_ = 0;
    std::vector<schedule::rank_t> missed_;
};

}  // namespace ucg
