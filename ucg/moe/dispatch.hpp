// Tokens go to the ranks of their experts.
#pragma once

#include <memory>
#include <vector>

#include "ucg/moe/copying.hpp"
#include "ucg/moe/workspace.hpp"
#include "ucg/schedule/crew.hpp"
#include "ucg/schedule/flights.hpp"
#include "ucg/schedule/program.hpp"
#include "ucg/schedule/require.hpp"

namespace ucg::moe {

// What a rank gives and where it wants the rows that it gets; matrices that are not there have no
// elements. All ranks give the same parts, with the same elements and types.
//
//  x        [tokens, hidden]  bf16, fp16, fp32 or fp8_e4m3
//  scales   [tokens, any]     with fp8_e4m3 only: fp32, or uint8 or int32 that hold several
//  weights  [tokens, k]       fp32, of the choices
//
// The output has the same and at least as many rows as the plan says. weights: of choices of this
// rank, 0 elsewhere. chosen: int32 or int64 [rows, k], experts of this rank or -1; rows behind the
// last one are filled with -1. Expanded: a row for each choice; weights [rows, 1], nothing chosen.
struct dispatch_tensors {
    const_parts from;
    destination into;
    bool zero_padding = false;  // expanded: rows between experts become 0
};

// One rank's part. Can be started again as soon as it ended. Owner context.
class dispatch final : public schedule::program {
public:
    // All that is pointed to outlives the operation. The status is that with which it will end on
    // every rank that still takes part; all ranks start it, whatever the status.
    // UCS_ERR_INVALID_PARAM; UCS_ERR_BUFFER_TOO_SMALL: the output has too few rows;
    // UCS_ERR_NO_MEMORY.
    ucs_status_t init(std::shared_ptr<const plan> by, const dispatch_tensors& what) noexcept;

    // What can be seen before it is known how many rows come: everything but whether there is room
    // for them. Logged.
    [[nodiscard]] static ucs_status_t check_form(const dispatch_tensors& what,
                                                 const choices& chosen, bool expanded) noexcept;

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

private:
    // Two messages of each kind: one is worked on while the other is under way.
    using pair = std::array<workspace::place, 2>;
    struct sending {
        std::size_t path;
        pair messages;
    };
    struct relaying {
        std::size_t stream;
        pair messages;
        std::vector<pair> forwards;  // to each rank of the node
    };
    struct receiving {
        rank_t source;
        bool in_place;
        pair messages;
    };

    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] ucs_status_t check_room() const noexcept;
    template<class Rows>
    [[nodiscard]] static ucs_status_t check(const dispatch_tensors& what, const choices& chosen,
                                            bool expanded, Rows rows) noexcept;
    [[nodiscard]] pair take_two(std::uint32_t most_rows) noexcept;
    void fill() const noexcept;
    void add_receivers();
    static schedule::task run_all(schedule::member& me, const dispatch& of);
    static schedule::task send_path(schedule::member& me, const dispatch& of, const sending& what);
    static schedule::task keep_own(schedule::member& me, const dispatch& of,
                                   const std::size_t& path);
    static schedule::task relay(schedule::member& me, const dispatch& of, const relaying& what);
    static schedule::task receive(schedule::member& me, const dispatch& of, const receiving& what);

    ucs_status_t refused_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<const plan> by_;
    dispatch_tensors what_;
    record form_;
    workspace space_;
    std::vector<sending> sends_;
    std::vector<std::size_t> own_;  // paths to this rank itself: none or one
    std::vector<relaying> relays_;
    std::vector<receiving> receives_;
};

}  // namespace ucg::moe
