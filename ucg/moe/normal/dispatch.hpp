// Dispatch: sends the tokens to the ranks of their experts.
#pragma once

#include <memory>
#include <vector>

#include "ucg/moe/normal/copy_work.hpp"
#include "ucg/moe/workspace.hpp"

namespace ucg::moe {

// Input and output of a rank. Absent matrices have 0 elements. All ranks pass the same parts with
// the same elements and types.
//
//  x        [tokens, hidden]  bf16, fp16, fp32 or fp8_e4m3
//  scales   [tokens, any]     with fp8_e4m3 only: fp32, or uint8 or int32 that pack several scales
//  weights  [tokens, k]       fp32, of the choices
//
// The output has the same parts and at least as many rows as the plan. weights: 0 for choices of
// other ranks. chosen: int32 or int64 [rows, k], experts of this rank or -1; rows behind the last
// received row are filled with -1. Expanded: a row for each choice; weights [rows, 1], no chosen.
struct dispatch_tensors {
    const_parts from;
    destination into;
    bool zero_padding = false;  // expanded: fills the padding behind each expert's rows with 0
};

// One rank's part. The caller may start it again as soon as it has ended. Owner context.
class dispatch final : public program {
public:
    // All memory that the arguments point to must outlive the operation. Returns the status with
    // which the operation will end on every rank that still takes part. Each rank must start the
    // operation, even if init() fails. UCS_ERR_INVALID_PARAM; UCS_ERR_BUFFER_TOO_SMALL: the output
    // has too few rows; UCS_ERR_NO_MEMORY.
    ucs_status_t init(std::shared_ptr<const plan> plan, const dispatch_tensors& tensors) noexcept;

    // Checks everything that does not depend on the number of received rows. Logs the reason of an
    // error.
    [[nodiscard]] static ucs_status_t check_form(const dispatch_tensors& tensors,
                                                 const choices& chosen, bool expanded) noexcept;

    [[nodiscard]] task run(member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

private:
    struct send_stream {
        std::size_t path;
        workspace::pair messages;
    };
    struct relay_stream {
        std::size_t stream;
        workspace::pair messages;
        std::vector<workspace::pair> forwards;  // one pair for each rank of the node
    };
    struct receive_stream {
        rank_t source;
        bool in_place;
        workspace::pair messages;
    };

    [[nodiscard]] ucs_status_t prepare();
    [[nodiscard]] ucs_status_t check_room() const noexcept;
    template<class Rows>
    [[nodiscard]] static ucs_status_t check(const dispatch_tensors& tensors, const choices& chosen,
                                            bool expanded, Rows rows) noexcept;
    void fill() const noexcept;
    void add_receivers();
    task send_path(member& me, const send_stream& stream) const;
    task keep_own(member& me, const std::size_t& path) const;
    task relay(member& me, const relay_stream& relayed) const;
    task receive(member& me, const receive_stream& stream) const;

    ucs_status_t init_status_ = UCS_ERR_NOT_CONNECTED;
    std::shared_ptr<const plan> plan_;
    dispatch_tensors tensors_;
    record form_;
    workspace space_;
    std::vector<send_stream> sends_;
    std::vector<std::size_t> own_;  // paths to this rank itself: at most one
    std::vector<relay_stream> relays_;
    std::vector<receive_stream> receives_;
};

}  // namespace ucg::moe
