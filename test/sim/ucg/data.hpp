// The memory of collectives, and the expected results, computed by simple loops over all ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/sim/ucg/plan.hpp"

namespace group_sim {

[[nodiscard]] bool reduces(ucg_coll_t coll) noexcept;
// True if the collective has a count for each rank, so blocks may differ in size.
[[nodiscard]] bool has_counts(ucg_coll_t coll) noexcept;
// True if the result does not depend on the order of operands, even in floating point, for the
// numbers used here. User operators are excluded.
[[nodiscard]] bool is_exact(ucg_type_t type, ucg_op_t op) noexcept;

// The buffers and arrays of one rank for one start of a collective, whose request may be started
// several times. Each buffer has exactly the needed size, so that a sanitizer detects every
// overrun.
class memory {
public:
    memory(const collective_plan& plan, std::uint32_t ranks, std::uint32_t rank, unsigned start);

    // Sets the buffers and arrays of the arguments. The memory must outlive the request.
    void describe(ucg_coll_args_t& args) const;
    [[nodiscard]] const void* src() const noexcept { return src_.bytes.get(); }
    [[nodiscard]] void* dst() const noexcept { return dst_.bytes.get(); }
    // Copies the contents of another start's buffers, which have the same length.
    void fill_from(const memory& other);

    // Describes the first error; returns an empty string if the result is correct.
    [[nodiscard]] std::string wrong() const;

private:
    struct buffer {
        std::unique_ptr<std::byte[]> bytes;  // null: absent
        std::size_t length = 0;
        void make(std::size_t size);
        void put(std::size_t offset, const std::vector<std::byte>& content);
        [[nodiscard]] std::vector<std::byte> copy() const;
    };
    void place_blocks(const collective_plan& plan);
    void make_buffers(const collective_plan& plan);
    void fill(const collective_plan& plan, unsigned start);
    void expect(const collective_plan& plan, unsigned start);
    void expect_at(std::size_t element, const std::vector<std::byte>& content);
    [[nodiscard]] std::uint64_t count_between(const collective_plan& plan, std::uint32_t from,
                                              std::uint32_t to) const;
    [[nodiscard]] bool is_root(const collective_plan& plan) const { return rank_ == plan.root; }

    const std::uint32_t ranks_, rank_;
    const std::size_t element_;
    const ucg_type_t type_;
    const ucg_coll_t coll_;
    bool input_in_dst_ = false;   // the call is in place: the input lies in dst
    bool output_in_src_ = false;  // scatter in place at the root: there is no dst
    buffer src_, dst_;
    std::vector<std::byte> src_before_, expected_;
    std::vector<bool> undefined_;  // elements of dst that may have any content; empty: none
    // Counts and displacements of the blocks, in elements.
    std::vector<std::uint64_t> src_counts_, src_places_, dst_counts_, dst_places_;
    bool has_places_ = false;  // the arguments have displacements
};

// The user operator of this collective.
[[nodiscard]] ucg_user_op_t user_operator(const collective_plan& plan) noexcept;

}  // namespace group_sim
