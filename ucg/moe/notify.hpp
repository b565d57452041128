// The exchange that tells every rank what will come: makes the plan.
#pragma once

#include <memory>
#include <vector>

#include "ucg/moe/parcel.hpp"
#include "ucg/moe/plan.hpp"
#include "ucg/schedule/program.hpp"

namespace ucg::moe {

// One rank's part. init(), then an operation runs it, once; then take(). All living ranks of the
// group take part; one that refuses its arguments starts the operation nevertheless, which then
// ends with its status on every rank. Owner context.
class notify final : public schedule::program {
public:
    // Keeps a copy of `topk`. The status is that with which the operation will end: UCS_OK where
    // nothing is wrong here.
    ucs_status_t init(std::shared_ptr<const team> of, const const_matrix& topk,
                      const settings& by) noexcept;

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

    // After an init that refused nothing, until take().
    [[nodiscard]] const choices& chosen() const noexcept { return made_->chosen; }
    // Once, after the operation ended well.
    [[nodiscard]] std::shared_ptr<const plan> take() noexcept { return std::move(made_); }

private:
    static schedule::task run_both(schedule::member& me, notify& what);
    [[nodiscard]] ucs_status_t prepare(std::shared_ptr<const team> of, const const_matrix& topk,
                                       const settings& by);
    void pack_for_nodes();
    [[nodiscard]] ucs_status_t pass_on() noexcept;
    void pack_for_ranks(std::span<const routes> all);
    [[nodiscard]] ucs_status_t finish() noexcept;
    [[nodiscard]] std::vector<std::uint32_t> targets() const;
    [[nodiscard]] route_form lengths() const noexcept;
    [[nodiscard]] form_hash agreed() const noexcept {
        return made_->agreed().with(made_->by.all_counts);
    }

    ucs_status_t refused_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<plan> made_;
    hop first_, second_;
};

}  // namespace ucg::moe
