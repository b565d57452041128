// The memory of collectives, and the expected results, computed by simple loops over all ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/sim/ucg/plan.hpp"

namespace group_sim {

[[nodiscard]] bool reduces(ucg_coll_t coll) noexcept;
// True if blocks may differ in size.
[[nodiscard]] bool has_counts(ucg_coll_t coll) noexcept;
// True if the result does not depend on the order of operands, even in floating point, for the
// numbers used here. User operators are excluded.
[[nodiscard]] bool is_exact(ucg_type_t type, ucg_op_t op) noexcept;

// The memory of one rank in one start of a collective. Heap memory has exactly the needed size, so
// that a sanitizer detects every overrun.
class memory {
public:
    memory(const collective_plan& plan, std::uint32_t ranks, std::uint32_t rank, unsigned start);

    // Sets the buffers and arrays of the arguments. The memory must outlive the request.
    void describe(ucg_coll_args_t& args) const;
    [[nodiscard]] const void* src() const noexcept { return src_.bytes.get(); }
    [[nodiscard]] void* dst() const noexcept { return dst_.bytes.get(); }
    // Copies the buffers of another start, which have the same length.
    void fill_from(const memory& other);

    // Returns the first error; empty: all is correct.
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
    bool input_in_dst_ = false;   // in place
    bool output_in_src_ = false;  // in place at the root of a scatter: dst receives nothing
    buffer src_, dst_;
    std::vector<std::byte> src_before_, expected_;
    std::vector<bool> undefined_;  // elements of dst that may have any content; empty: none
    std::vector<std::uint64_t> src_counts_, src_places_, dst_counts_, dst_places_;
    bool has_places_ = false;
};

// The user operator of this collective.
[[nodiscard]] ucg_user_op_t user_operator(const collective_plan& plan) noexcept;

}  // namespace group_sim
