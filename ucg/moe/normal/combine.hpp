// Combine: sends the results of the experts back to the ranks of their tokens and adds them up.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ucg/moe/normal/copy_work.hpp"
#include "ucg/moe/normal/sum_work.hpp"
#include "ucg/moe/workspace.hpp"

namespace ucg::moe {

// Absent matrices have 0 elements. All ranks pass the same matrices with the same elements and
// types.
//
//  from  values   [rows of the plan, hidden]  bf16, fp16 or fp32: one row for each received token.
//                 The caller has already summed over its experts; no weight is applied.
//                 Expanded: one row for each choice; combine adds up the rows of a token in the
//                 order of its choices, and rounds the sum
//        weights  [rows, k] fp32, or [expanded rows, 1]
//  into  values   [tokens, hidden], weights [tokens, k]: sums over the ranks that have the token
//  bias           [tokens, hidden], added to the values last
//
// Combine adds in fp32 and rounds to the type of the values: once at the relay, if a relay adds up
// a token's rows, and once at the end. The order of the sum is that of the ranks; the sum of a
// relay takes the position of the lowest rank of its node.
struct combine_tensors {
    const_parts from;
    const expansion* expanded = nullptr;
    parts into;
    std::array<const_matrix, 2> bias;
};

// One rank's part; uses the plan of the dispatch. The caller may start it again as soon as it has
// ended. Owner context.
class combine final : public program {
public:
    // Has the contract of dispatch::init().
    ucs_status_t init(std::shared_ptr<const plan> plan, const combine_tensors& tensors) noexcept;

    [[nodiscard]] task run(member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

private:
    // Rows of one source that this rank sends to the source or to its relay, another rank.
    struct return_stream {
        rank_t source = 0;
        rank_t target = 0;
        workspace::pair messages{};
        sum_memory sums;
    };
    // The sum, channel by channel, of the rows that several ranks have of one source's tokens.
    struct stream_sum {
        struct input {
            rank_t from;             // may be this rank
            std::size_t list;        // index of its list in `places`
            workspace::pair coming;  // receive buffers; for this rank: buffers of folded rows
        };
        rank_t source = 0;
        const lists* places = nullptr;
        std::vector<input> inputs;  // in the order of the addition
        sum_memory sums, own_sums;
        std::size_t rows = 0;  // rows to add up in the channel of the last await_rows()
    };
    // The sums that this rank makes as the relay of one source, over all ranks of this node.
    struct relay_stream {
        std::size_t stream = 0;
        stream_sum rows;
        workspace::pair results{};
    };

    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] ucs_status_t check() const noexcept;
    void prepare_relays();
    void prepare_collection();
    void add_input(stream_sum& sum, rank_t from, std::size_t list);
    void prepare_sums(stream_sum& sum) const;
    [[nodiscard]] bool sends_input() const noexcept;
    [[nodiscard]] sum_memory memory_for_folding() const;
    [[nodiscard]] const_parts rows_from(std::uint32_t row) const noexcept;
    task return_rows(member& me, return_stream& stream);
    task relay(member& me, relay_stream& relayed);
    task collect(member& me, stream_sum& sum);
    // Posts the receives of a channel's rows into one of the two buffers.
    void post_receives(member& me, const stream_sum& sum, flights& coming, std::uint32_t channel,
                       unsigned buffer) const noexcept;
    // Waits for the rows of a channel and fills sum.sums with them.
    task await_rows(member& me, stream_sum& sum, flights& coming, std::uint32_t channel,
                    unsigned buffer);

    ucs_status_t init_status_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<const plan> plan_;
    combine_tensors tensors_;
    record form_;
    workspace space_;
    std::vector<return_stream> returns_;
    std::vector<relay_stream> relays_;
    stream_sum collection_;  // the sums of this rank's tokens
};

}  // namespace ucg::moe
