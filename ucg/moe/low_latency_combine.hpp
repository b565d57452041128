// What experts made of the rows of a low-latency dispatch comes back, and is added up with weights.
#pragma once

#include <memory>
#include <vector>

#include "ucg/moe/slots.hpp"
#include "ucg/moe/weighing.hpp"
#include "ucg/moe/workspace.hpp"
#include "ucg/schedule/flights.hpp"
#include "ucg/schedule/program.hpp"
#include "ucg/schedule/require.hpp"

namespace ucg::moe {

//  values   for each expert of this rank [capacity, hidden] bf16, fp16 or fp32: at the places where
//           the dispatch put the tokens
//  weights  [tokens, k] fp32
//  into     [tokens, hidden] of the same type
struct low_latency_sums {
    const_stack values;
    const_matrix weights;
    matrix into;
};

// One rank's part, by the handle of its dispatch. A token becomes the sum of weight x row over its
// choices in their order, in fp32, rounded once; choices of masked ranks are left out. Can be
// started again as soon as it ended. Owner context.
class low_latency_combine final : public schedule::program {
public:
    // As dispatch::init().
    ucs_status_t init(std::shared_ptr<const slots> by, const low_latency_sums& what) noexcept;

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

private:
    struct exchange_with {
        rank_t rank;
        std::uint32_t rows_out, rows_in;
        const std::byte* lies;  // what is sent, where it needs no copy
        workspace::place out, in;
    };
    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] ucs_status_t check() const noexcept;
    [[nodiscard]] const std::byte* lying(rank_t rank) const noexcept;
    class packing;
    class summing;
    static schedule::task run_all(schedule::member& me, low_latency_combine& of);

    ucs_status_t refused_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<const slots> by_;
    low_latency_sums what_;
    std::size_t row_bytes_ = 0;
    workspace space_;
    std::vector<exchange_with> others_;       // and this rank, last
    std::vector<std::size_t> index_of_rank_;  // among them
    std::vector<weighted> terms_;             // of one token
};

}  // namespace ucg::moe
