// Low-latency combine: sends the results of the experts back to the ranks of their tokens and adds
// them up with weights.
#pragma once

#include <memory>
#include <vector>

#include "ucg/moe/low_latency/slots.hpp"
#include "ucg/moe/numbers/weighted_sum.hpp"
#include "ucg/moe/steps.hpp"
#include "ucg/moe/workspace.hpp"

namespace ucg::moe {

// How ranks send rows. The same on every rank.
enum class row_transfer : std::uint8_t {
    packed,    // one message holds all rows for a rank
    in_place,  // one message for each expert, sent from `values`, whose rows must be dense
    in_logfmt  // packed, and logfmt_encode() compresses each row, also those for this rank itself
};

//  values   for each expert of this rank [capacity, hidden] bf16, fp16 or fp32: in the rows into
//           which the dispatch put the tokens. in_logfmt: bf16, `hidden` a multiple of 128
//  weights  [tokens, k] fp32
//  into     [tokens, hidden] of the same type
struct low_latency_combine_tensors {
    const_stack values;
    const_matrix weights;
    matrix into;
    row_transfer transfer = row_transfer::packed;
};

// One rank's part; uses the handle of the dispatch. A token becomes the sum of weight x row over
// its choices in their order. The sum is computed in fp32 and rounded once. Choices of masked ranks
// are left out. The caller may start it again as soon as it has ended. Owner context.
class low_latency_combine final : public program {
public:
    // Has the contract of dispatch::init().
    ucs_status_t init(std::shared_ptr<const slots> slots,
                      const low_latency_combine_tensors& tensors) noexcept;

    [[nodiscard]] task run(member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

private:
    struct peer_exchange {
        rank_t rank;
        std::uint32_t rows_out, rows_in;
        bool packs;                // rows are copied into a message buffer before they are sent
        workspace::place out, in;  // send buffer and receive buffer
        std::size_t out_end;       // end of the messages to this rank in going_
    };
    // A message to send: from `in_place` or, if that is null, from the send buffer.
    struct outgoing_rows {
        const std::byte* in_place;
        std::size_t bytes;
    };
    struct incoming_rows {
        rank_t rank;
        workspace::place into;
        std::size_t bytes;
    };
    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] ucs_status_t check() const noexcept;
    [[nodiscard]] const std::byte* rows_in_place(rank_t rank) const noexcept;
    [[nodiscard]] bool can_add_own_rows_in_place() const noexcept;
    void list_messages(peer_exchange& with, const std::byte* in_place);
    void pack(const peer_exchange& to) const noexcept;
    void add_rows() noexcept;
    [[nodiscard]] const std::byte* row_of(std::uint32_t token, std::uint32_t j,
                                          expert_t expert) const noexcept;

    ucs_status_t init_status_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<const slots> slots_;
    low_latency_combine_tensors tensors_;
    std::size_t row_bytes_ = 0;   // of a row in memory
    std::size_t sent_bytes_ = 0;  // of a row in a message
    workspace space_;
    std::vector<peer_exchange> others_;  // the other living ranks, then this rank
    std::vector<outgoing_rows> sends_;   // in the order of others_
    std::vector<incoming_rows> receives_;
    std::vector<std::size_t> index_of_rank_;  // index in others_
    std::vector<std::uint32_t>
        own_places_;               // index of each expert's first row among this rank's own rows
    std::vector<weighted> terms_;  // addends of one token
};

}  // namespace ucg::moe
