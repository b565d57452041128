// Dispatch for few tokens: one hop, a row for each choice, no exchange before.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ucg/moe/record.hpp"
#include "ucg/moe/slots.hpp"
#include "ucg/moe/workspace.hpp"
#include "ucg/schedule/flights.hpp"
#include "ucg/schedule/program.hpp"
#include "ucg/schedule/require.hpp"

namespace ucg::moe {

// Memory of a rank. Matrices that are not there have no elements.
//
//  x             [tokens, hidden]  bf16, fp16 or fp32
//  values        for each expert of this rank [capacity, hidden]: as x, or fp8_e4m3 where it is
//  cast scales        then for each expert [capacity, hidden / 128] of scale_type() tokens_of int32
//  [local experts, capacity]: the token that a row was at its source
//
// Capacity: slots::capacity(). Rows behind those that come are left as they are.
struct low_latency_tensors {
    const_matrix x;
    stack values, scales;
    matrix tokens_of;
};

// One rank's part; all living ranks take part. Can be started again, for new content of the same
// matrices, as soon as it ended. Owner context.
//
// Two messages go to each rank: how many rows each expert gets, and the rows. The receiver places
// them when it knows the counts of all, so that their order does not depend on when they come.
class low_latency_dispatch final : public schedule::program {
public:
    // Keeps a copy of `topk`. As dispatch::init().
    ucs_status_t init(std::shared_ptr<const team> of, const slot_settings& by,
                      const const_matrix& topk, const low_latency_tensors& what) noexcept;

    [[nodiscard]] schedule::task run(schedule::member& me) noexcept override;
    [[nodiscard]] std::uint64_t form() const noexcept override;

    // Of the last start, after it ended well. Whoever keeps a copy makes and drops it in the
    // owner's context: the memory of those that nobody has is used again.
    [[nodiscard]] const std::shared_ptr<const slots>& made() const noexcept { return made_; }

private:
    // With one other rank.
    struct exchange_with {
        rank_t rank;
        std::uint32_t rows_out;
        std::uint32_t rows_in;
        std::uint32_t tokens_there;
        workspace::place header_out, header_in, out;
        std::size_t in;  // in the memory of what comes
    };
    [[nodiscard]] ucs_status_t prepare(std::shared_ptr<const team> of, const const_matrix& topk);
    [[nodiscard]] ucs_status_t check(const choices& chosen) const noexcept;
    [[nodiscard]] std::size_t header_length() const noexcept;
    void put_header(const exchange_with& to) const noexcept;
    [[nodiscard]] ucs_status_t take_header(exchange_with& from) noexcept;
    [[nodiscard]] ucs_status_t find_ranges() noexcept;
    [[nodiscard]] ucs_status_t check_tokens(const exchange_with& from,
                                            const const_parts& rows) const noexcept;
    [[nodiscard]] ucs_status_t begin() noexcept;
    [[nodiscard]] matrix cast_values() const noexcept;
    [[nodiscard]] matrix cast_scales() const noexcept;
    [[nodiscard]] parts rows_at(std::byte* message, std::uint32_t count) const noexcept;

    class casting;
    class packing;
    class unpacking;
    static schedule::task run_all(schedule::member& me, low_latency_dispatch& of);

    ucs_status_t refused_ = UCS_ERR_NOT_CONNECTED;
    slot_settings by_;
    low_latency_tensors what_;
    record form_;
    std::uint64_t agreed_ = 0;
    workspace space_;
    workspace::place cast_values_ = 0, cast_scales_ = 0;
    std::vector<exchange_with> others_;  // and this rank, last
    std::shared_ptr<const slot_plan> plan_;
    std::vector<std::shared_ptr<slots>> results_;  // of starts
    std::shared_ptr<slots> coming_;
    std::shared_ptr<const slots> made_;
    std::unique_ptr<std::byte[]> received_;
    std::size_t received_size_ = 0;
};

}  // namespace ucg::moe
