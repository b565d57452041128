// Request for a collective; it can be started any number of times.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ucg/core/arguments.hpp"
#include "ucg/core/request.hpp"
#include "ucg/node/engine/operation.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/select/selector.hpp"

namespace ucg {

// Runs on the node's engine or by a schedule, or by neither if the arguments were refused. Owner
// context.
class collective_request final : public request {
public:
    // Makes a request for any arguments, even refused ones: see refused(). Throws std::bad_alloc.
    static std::unique_ptr<collective_request> make(group& group, const ucg_coll_args_t& args);

    // Returns UCS_OK, or why the arguments were refused (a status of ucg_request_init()): when it
    // is started, the request ends with that on every rank.
    [[nodiscard]] ucs_status_t refused() const noexcept {
        return refused_ != UCS_OK ? refused_ : unfit_;
    }
    // False while a blocking call uses this request of request_cache.
    [[nodiscard]] bool is_idle() const noexcept { return is_idle_; }
    void set_idle(bool idle) noexcept { is_idle_ = idle; }
    [[nodiscard]] const ucg_coll_args_t& args() const noexcept { return args_; }
    // If the buffers are refused, the next start ends with that error; other buffers may be set
    // then.
    [[nodiscard]] ucs_status_t set_buffers(const void* from, void* into) noexcept override;
    [[nodiscard]] const char* name() const noexcept override { return ucg_coll_name(args_.coll); }
    [[nodiscard]] const char* algorithm() const noexcept override;
    [[nodiscard]] const char* reason() const noexcept override;
    [[nodiscard]] signature get_signature() const noexcept override;
    [[nodiscard]] shares get_shares() const override;
    [[nodiscard]] bool uses_engine() const noexcept override { return choice_.is_engine(); }

private:
    collective_request(group& group, const ucg_coll_args_t& args, arguments checked) noexcept
        : request(group, args.timeout, {args.callback, args.callback_arg}),
          args_(args),
          checked_(std::move(checked)) {}
    [[nodiscard]] ucs_status_t prepare();  // throws std::bad_alloc
    void prepare_refused() noexcept;
    void begin() noexcept override;

    ucg_coll_args_t args_;
    arguments checked_;
    bool is_idle_ = true;
    ucs_status_t refused_ = UCS_OK;  // permanent error
    ucs_status_t unfit_ = UCS_OK;    // error of the buffers that were set
    select::choice choice_;
    // At most one of these exists. They use checked_, so they are destroyed first.
    std::optional<node::operation> on_engine_;
    std::optional<schedule::operation> scheduled_;
};

}  // namespace ucg
