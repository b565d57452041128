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

// How rows travel. The same on every rank.
enum class rows_go : std::uint8_t {
    packed,    // those for a rank in one message
    in_place,  // a message for each expert, from where they lie: rows have no gaps between them
    in_logfmt  // as packed, each of them by logfmt_encode(), also those that stay on this rank
};

//  values   for each expert of this rank [capacity, hidden] bf16, fp16 or fp32: at the places where
//           the dispatch put the tokens. In logfmt: bf16, a multiple of 128
//  weights  [tokens, k] fp32
//  into     [tokens, hidden] of the same type
struct low_latency_sums {
    const_stack values;
    const_matrix weights;
    matrix into;
    rows_go how = rows_go::packed;
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
        bool packs;                // what is sent needs a copy
        workspace::place out, in;  // the copy, and what comes
        std::size_t out_end;       // of the messages to it among all that are sent
    };
    // What is sent, from `lies` or, if that is null, from the copy.
    struct outgoing_rows {
        const std::byte* lies;
        std::size_t bytes;
    };
    struct incoming_rows {
        rank_t rank;
        workspace::place into;
        std::size_t bytes;
    };
    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] ucs_status_t check() const noexcept;
    [[nodiscard]] const std::byte* lying(rank_t rank) const noexcept;
    [[nodiscard]] bool own_rows_lie() const noexcept;
    void list_messages(exchange_with& with, const std::byte* lies);
    class packing;
    class summing;
    static schedule::task run_all(schedule::member& me, low_latency_combine& of);

    ucs_status_t refused_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<const slots> by_;
    low_latency_sums what_;
    std::size_t row_bytes_ = 0;   // in memory
    std::size_t sent_bytes_ = 0;  // of a row in a message
    workspace space_;
    std::vector<exchange_with> others_;  // and this rank, last
    std::vector<outgoing_rows> going_;   // in the order of the others
    std::vector<incoming_rows> coming_;
    std::vector<std::size_t> index_of_rank_;  // among the others
    std::vector<std::uint32_t> own_places_;   // of each expert's first among the own rows
    std::vector<weighted> terms_;             // of one token
};

}  // namespace ucg::moe
