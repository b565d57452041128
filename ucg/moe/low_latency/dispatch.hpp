// Low-latency dispatch, for few tokens: one hop, a row for each choice, and no notify before it.
#pragma once

#include <memory>
#include <vector>

#include "ucg/moe/low_latency/slots.hpp"
#include "ucg/moe/record.hpp"
#include "ucg/moe/steps.hpp"
#include "ucg/moe/workspace.hpp"

namespace ucg::moe {

// Input and output of a rank. Absent matrices have 0 elements.
//
//  x             [tokens, hidden]  bf16, fp16 or fp32
//  values        for each expert of this rank [capacity, hidden]: type of x, or fp8_e4m3 with cast
//  scales        with cast: for each expert [capacity, hidden / 128] of scale_type()
//  token_numbers     int32 or int64 [local experts, capacity]: number of a row's token at its
//  source
//
// The capacity is slot_plan::capacity(). Rows behind the received ones are not written.
struct low_latency_dispatch_tensors {
    const_matrix x;
    stack values, scales;
    matrix token_numbers;
};

// One rank's part; all living ranks take part. The caller may start it again, for new content of
// the same matrices, as soon as it has ended. Owner context.
//
// Each rank sends two messages to each other rank: the number of rows for each expert, and the
// rows. The receiver places rows after it has received all counts, so that their order does not
// depend on the order of messages.
class low_latency_dispatch final : public program {
public:
    // Copies `topk`. Otherwise has the contract of dispatch::init().
    ucs_status_t init(std::shared_ptr<const team> group, const slot_settings& options,
                      const const_matrix& topk,
                      const low_latency_dispatch_tensors& tensors) noexcept;

    [[nodiscard]] task run(member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

    // The result of the last start, valid after the operation succeeded. A caller must copy and
    // drop the pointer in the owner context, because begin() uses the memory again if no other copy
    // of the pointer exists.
    [[nodiscard]] const std::shared_ptr<const slots>& made() const noexcept { return result_; }

private:
    // The messages between this rank and one rank.
    struct peer_exchange {
        rank_t rank;
        std::uint32_t rows_out;
        std::uint32_t rows_in;
        std::uint32_t peer_tokens;
        workspace::place header_out, header_in, out;
        std::size_t in;  // offset in received_
    };
    [[nodiscard]] ucs_status_t prepare(std::shared_ptr<const team> group, const const_matrix& topk);
    [[nodiscard]] ucs_status_t check(const choices& chosen) const noexcept;
    [[nodiscard]] std::size_t header_length() const noexcept;
    void put_header(const peer_exchange& to) const noexcept;
    [[nodiscard]] ucs_status_t take_header(peer_exchange& from) noexcept;
    [[nodiscard]] ucs_status_t find_ranges() noexcept;
    [[nodiscard]] ucs_status_t check_tokens(const peer_exchange& from,
                                            const const_parts& rows) const noexcept;
    [[nodiscard]] ucs_status_t begin() noexcept;
    [[nodiscard]] matrix cast_values() const noexcept;
    [[nodiscard]] matrix cast_scales() const noexcept;
    void cast_rows() const noexcept;
    void pack(const peer_exchange& to) const noexcept;
    void unpack(const peer_exchange& from, const const_parts& rows) const noexcept;

    ucs_status_t init_status_ = UCS_ERR_NOT_CONNECTED;
    slot_settings options_;
    low_latency_dispatch_tensors tensors_;
    record form_;
    std::uint64_t agreed_ = 0;
    workspace space_;
    workspace::place cast_values_ = 0, cast_scales_ = 0;
    std::vector<peer_exchange> others_;  // the other living ranks, then this rank
    std::shared_ptr<const slot_plan> plan_;
    std::vector<std::shared_ptr<slots>> results_;  // results of starts, kept for reuse
    std::shared_ptr<slots> pending_;
    std::shared_ptr<const slots> result_;
    std::unique_ptr<std::byte[]> received_;
    std::size_t received_size_ = 0;
};

}  // namespace ucg::moe
