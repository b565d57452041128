// Notify and dispatch in one operation, for outputs that have room for whatever comes.
#pragma once

#include <memory>
#include <optional>

#include "ucg/moe/dispatch.hpp"
#include "ucg/moe/notify.hpp"

namespace ucg::moe {

// One rank's part. init(), then an operation runs it, once; then plan() and so on. Nobody looks at
// counts in between: the output has as many rows as can come (most_rows()), or as the caller knows
// to be enough; UCS_ERR_BUFFER_TOO_SMALL where it does not. Owner context.
class routed_dispatch final : public schedule::program {
public:
    // As notify::init(), and dispatch::check_form() of `what`; whether outputs have room for what
    // comes is seen when that is known. `alignment`: not 0 for the expanded layout;
    // what.into.expanded is set here.
    ucs_status_t init(std::shared_ptr<const team> of, const const_matrix& topk, const settings& by,
                      const dispatch_tensors& what, std::uint32_t alignment) noexcept;

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

    // After the operation ended well; the expansion lives as long as this.
    [[nodiscard]] const std::shared_ptr<const plan>& made() const noexcept { return made_; }
    [[nodiscard]] const expansion* expanded() const noexcept {
        return expanded_ ? &*expanded_ : nullptr;
    }

private:
    static schedule::task run_both(schedule::member& me, routed_dispatch& of);
    void prepare() noexcept;

    notify routing_;
    dispatch moving_;
    dispatch_tensors what_;
    std::uint32_t alignment_ = 0;
    std::shared_ptr<const plan> made_;
    std::optional<expansion> expanded_;
    ucs_status_t refused_ = UCS_ERR_NOT_CONNECTED;
};

}  // namespace ucg::moe
