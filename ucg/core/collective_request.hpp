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

// By the node's engine, or by a schedule. Owner context.
class collective_request final : public request {
public:
    // Statuses as ucg_request_init().
    static ucs::result<std::unique_ptr<collective_request>> make(group& of,
                                                                 const ucg_coll_args_t& args);

    [[nodiscard]] const ucg_coll_args_t& args() const noexcept { return args_; }
    [[nodiscard]] ucs_status_t set_buffers(const void* from, void* into) noexcept override;
    [[nodiscard]] const char* name() const noexcept override { return ucg_coll_name(args_.coll); }
    [[nodiscard]] const char* algorithm() const noexcept override { return choice_.name(); }
    [[nodiscard]] const char* reason() const noexcept override { return choice_.reason.c_str(); }
    [[nodiscard]] signature says() const noexcept override;
    [[nodiscard]] bool uses_engine() const noexcept override { return near_.has_value(); }

private:
    collective_request(group& of, const ucg_coll_args_t& args, arguments checked) noexcept
        : request(of, args.timeout, {args.callback, args.callback_arg}),
          args_(args),
          checked_(std::move(checked)) {}
    [[nodiscard]] ucs_status_t prepare();
    void begin() noexcept override;
    void abort(ucs_status_t why) noexcept override;
    void begin_failed(ucs_status_t why) noexcept override;
    [[nodiscard]] std::vector<schedule::rank_t> awaited() const override;

    ucg_coll_args_t args_;
    arguments checked_;
    select::choice choice_;
    std::optional<node::operation> near_;  // one of these two
    std::optional<schedule::operation> spread_;
};

}  // namespace ucg
