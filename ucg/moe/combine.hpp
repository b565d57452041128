// What experts made of tokens comes back to the ranks of the tokens and is added up.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ucg/moe/copying.hpp"
#include "ucg/moe/summing.hpp"
#include "ucg/moe/workspace.hpp"
#include "ucg/schedule/crew.hpp"
#include "ucg/schedule/flights.hpp"
#include "ucg/schedule/program.hpp"
#include "ucg/schedule/require.hpp"

namespace ucg::moe {

// Matrices that are not there have no elements. All ranks give the same ones, with the same
// elements and types.
//
//  from  values   [rows of the plan, hidden]  bf16, fp16 or fp32: one for each received token,
//  which
//                 already is the sum over this rank's experts; no weight is applied. Expanded: one
//                 for each choice, which are added up here, in the order of the choices, and
//                 rounded
//        weights  [rows, k] fp32, or [expanded rows, 1]
//  into  values   [tokens, hidden], weights [tokens, k]: sums over the ranks that have the token
//  bias           [tokens, hidden], added to the values, last
//
// Sums are made in fp32 and rounded to the type of the values: once at the relay, where a token's
// rows come by one, and once at the end. Order: that of ranks, and a relay's sum stands where the
// lowest rank of its node would.
struct combine_tensors {
    const_parts from;
    const expansion* expanded = nullptr;
    parts into;
    std::array<const_matrix, 2> bias;
};

// One rank's part, with the plan of the dispatch. Can be started again as soon as it ended. Owner
// context.
class combine final : public schedule::program {
public:
    // As dispatch::init().
    ucs_status_t init(std::shared_ptr<const plan> by, const combine_tensors& what) noexcept;

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

private:
    using pair = std::array<workspace::place, 2>;
    // Rows of one source that go to it or to its relay, which is another rank.
    struct returning {
        rank_t source = 0;
        rank_t target = 0;
        pair messages{};
        sum_memory sums;
    };
    // Rows of one source's tokens that several ranks have, added up channel by channel.
    struct adding {
        struct input {
            rank_t from;       // this rank as well
            std::size_t list;  // which one of `places` has those of its rows
            pair coming;       // from this rank: where rows are folded
        };
        rank_t source = 0;
        const lists* places = nullptr;
        std::vector<input> inputs;  // in the order of the sum
        sum_memory sums, own_sums;
        std::size_t rows = 0;  // that are added up for the channel that take() waited for
    };
    // All rows of this node for one source.
    struct relaying {
        std::size_t stream = 0;
        adding rows;
        pair results{};
    };

    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] ucs_status_t check() const noexcept;
    void prepare_relays();
    void prepare_collection();
    void expect(adding& what, rank_t from, std::size_t list);
    void prepare_sums(adding& what) const;
    [[nodiscard]] pair take_two(std::uint32_t most_rows) noexcept;
    [[nodiscard]] sum_memory memory_for_folding() const;
    [[nodiscard]] const_parts lying(std::uint32_t row) const noexcept;
    static schedule::task run_all(schedule::member& me, combine& of);
    static schedule::task give_back(schedule::member& me, combine& of, returning& what);
    static schedule::task relay(schedule::member& me, combine& of, relaying& what);
    static schedule::task collect(schedule::member& me, combine& of, adding& what);
    // Receives a channel's rows, as one of two channels that are under way.
    void listen(schedule::member& me, const adding& what, schedule::flights& coming,
                std::uint32_t channel, unsigned turn) const noexcept;
    // Waits until they are there, so that what.sums has them all.
    static schedule::task take(schedule::member& me, combine& of, adding& what,
                               schedule::flights& coming, std::uint32_t channel, unsigned turn);

    ucs_status_t refused_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<const plan> by_;
    combine_tensors what_;
    record form_;
    workspace space_;
    std::vector<returning> returns_;
    std::vector<relaying> relays_;
    adding collection_;  // of all rows for this rank
};

}  // namespace ucg::moe
