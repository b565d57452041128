// Notify and dispatch in one operation, for outputs that are large enough for any routing.
#pragma once

#include <memory>
#include <optional>

#include "ucg/moe/normal/dispatch.hpp"
#include "ucg/moe/normal/notify.hpp"

namespace ucg::moe {

// One rank's part. The caller calls init(), an operation runs the program once, then the caller
// calls made() and expanded(). The caller cannot look at the counts before data moves, so the
// output must have max_rows() rows, or as many as the caller knows to be enough. If they are not
// enough, the operation ends with UCS_ERR_BUFFER_TOO_SMALL. Owner context.
class routed_dispatch final : public program {
public:
    // Has the contract of notify::init(), and also runs dispatch::check_form() on `tensors`. The
    // operation checks the number of rows later, when the counts are known. An `alignment` other
    // than 0 asks for the expanded layout; the operation sets tensors.into.expanded itself.
    ucs_status_t init(std::shared_ptr<const team> group, const const_matrix& topk,
                      const settings& options, const dispatch_tensors& tensors,
                      std::uint32_t alignment) noexcept;

    [[nodiscard]] task run(member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

    // Valid after the operation succeeded. This object owns the expansion.
    [[nodiscard]] const std::shared_ptr<const plan>& made() const noexcept { return made_; }
    [[nodiscard]] const expansion* expanded() const noexcept {
        return expanded_ ? &*expanded_ : nullptr;
    }

private:
    [[nodiscard]] ucs_status_t prepare();

    notify routing_;
    dispatch moving_;
    dispatch_tensors tensors_;
    std::uint32_t alignment_ = 0;
    std::shared_ptr<const plan> made_;
    std::optional<expansion> expanded_;
    ucs_status_t init_status_ = UCS_ERR_NOT_CONNECTED;
};

}  // namespace ucg::moe
