// A collective that can be started again and again.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ucg/core/arguments.hpp"
#include "ucg/core/request.hpp"
#include "ucg/node/operation.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/select/selector.hpp"

namespace ucg {

// By the node's engine, or by a schedule; or by none, where the arguments were refused. Owner
// context.
class collective_request final : public request {
public:
    // There is one for whatever arguments: see refused(). std::bad_alloc.
    static std::unique_ptr<collective_request> make(group& of, const ucg_coll_args_t& args);

    // UCS_OK, or what is wrong with its arguments (a status of ucg_request_init()): it ends with
    // that on every rank when it is started.
    [[nodiscard]] ucs_status_t refused() const noexcept {
        return refused_ != UCS_OK ? refused_ : unfit_;
    }
    [[nodiscard]] const ucg_coll_args_t& args() const noexcept { return args_; }
    // Where they are refused, the next start ends with that; others may be set then.
    [[nodiscard]] ucs_status_t set_buffers(const void* from, void* into) noexcept override;
    [[nodiscard]] const char* name() const noexcept override { return ucg_coll_name(args_.coll); }
    [[nodiscard]] const char* algorithm() const noexcept override;
    [[nodiscard]] const char* reason() const noexcept override { return choice_.reason.c_str(); }
    [[nodiscard]] signature says() const noexcept override;
    [[nodiscard]] shares deals() const override;
    [[nodiscard]] bool uses_engine() const noexcept override { return near_.has_value(); }

private:
    collective_request(group& of, const ucg_coll_args_t& args, arguments checked) noexcept
        : request(of, args.timeout, {args.callback, args.callback_arg}),
          args_(args),
          checked_(std::move(checked)) {}
    [[nodiscard]] ucs_status_t prepare();
    void prepare_blindly();
    void spread();
    void begin() noexcept override;
    void abort(ucs_status_t why) noexcept override;
    void begin_failed(ucs_status_t why) noexcept override;
    [[nodiscard]] std::vector<schedule::rank_t> awaited() const override;

    ucg_coll_args_t args_;
    arguments checked_;
    ucs_status_t refused_ = UCS_OK;  // for good
    ucs_status_t unfit_ = UCS_OK;    // the buffers that were set
    select::choice choice_;
    std::optional<node::operation> near_;  // one of these two, or none
    std::optional<schedule::operation> spread_;
};

}  // namespace ucg
