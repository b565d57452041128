// Notify: the exchange by which each rank learns which tokens it will receive. Notify makes the
// plan.
#pragma once

#include <memory>
#include <vector>

#include "ucg/moe/normal/notify_message.hpp"
#include "ucg/moe/plan/plan.hpp"

namespace ucg::moe {

// One rank's part. The caller calls init(), an operation runs the program once, then the caller
// calls take(). All living ranks of the group take part. If init() fails, the caller must start
// the operation nevertheless; the operation then ends with that status on every rank. Owner
// context.
class notify final : public program {
public:
    // Copies `topk`. Returns the status with which the operation will end; UCS_OK if the arguments
    // of this rank are valid.
    ucs_status_t init(std::shared_ptr<const team> group, const const_matrix& topk,
                      const settings& options) noexcept;

    [[nodiscard]] task run(member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

    // Valid after a successful init() and until take().
    [[nodiscard]] const choices& chosen() const noexcept { return made_->chosen; }
    // The caller may call this once, after the operation succeeded.
    [[nodiscard]] std::shared_ptr<const plan> take() noexcept { return std::move(made_); }

private:
    [[nodiscard]] ucs_status_t prepare(std::shared_ptr<const team> group, const const_matrix& topk,
                                       const settings& options);
    void pack_for_nodes();
    [[nodiscard]] ucs_status_t forward_routes() noexcept;
    void pack_for_ranks(std::span<const routes> all);
    [[nodiscard]] ucs_status_t finish() noexcept;
    [[nodiscard]] std::vector<std::uint32_t> targets() const;
    [[nodiscard]] header_form message_form() const noexcept;
    [[nodiscard]] form_hash agreed() const noexcept {
        return made_->agreed().with(made_->options.all_counts);
    }

    ucs_status_t init_status_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<plan> made_;
    hop first_, second_;
};

}  // namespace ucg::moe
