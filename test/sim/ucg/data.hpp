// The memory of collectives, and what it must hold in the end: plain loops over all ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/sim/ucg/plan.hpp"

namespace group_sim {

[[nodiscard]] bool reduces(ucg_coll_t coll) noexcept;
// Whether its blocks have sizes of their own.
[[nodiscard]] bool has_counts(ucg_coll_t coll) noexcept;
// Whether the result is the same in any order, also of floating point, for the numbers that are
// taken here; no operator of the user's.
[[nodiscard]] bool is_exact(ucg_type_t type, ucg_op_t op) noexcept;

// Of one rank in one start of a collective. Heap memory of exactly the size that is needed, so that
// a sanitizer sees each byte too far.
class memory {
public:
    memory(const collective_plan& of, std::uint32_t ranks, std::uint32_t rank, unsigned start);

    // Puts buffers and arrays into arguments that are filled otherwise. The memory stays as long
    // as the request.
    void describe(ucg_coll_args_t& args) const;
    [[nodiscard]] const void* src() const noexcept { return src_.bytes.get(); }
    [[nodiscard]] void* dst() const noexcept { return dst_.bytes.get(); }
    // Takes over what another start has in its buffers, which are as long.
    void fill_from(const memory& other);

    // Empty: all is as it must be.
    [[nodiscard]] std::string wrong() const;

private:
    struct buffer {
        std::unique_ptr<std::byte[]> bytes;  // null: it is not there
        std::size_t length = 0;
        void make(std::size_t size);
        void put(std::size_t at, const std::vector<std::byte>& what);
        [[nodiscard]] std::vector<std::byte> copy() const;
    };
    void place_blocks(const collective_plan& of);
    void make_buffers(const collective_plan& of);
    void fill(const collective_plan& of, unsigned start);
    void expect(const collective_plan& of, unsigned start);
    void expect_at(std::size_t element, const std::vector<std::byte>& what);
    [[nodiscard]] std::uint64_t count_between(const collective_plan& of, std::uint32_t from,
                                              std::uint32_t to) const;
    [[nodiscard]] bool is_root(const collective_plan& of) const { return rank_ == of.root; }

    const std::uint32_t ranks_, rank_;
    const std::size_t element_;
    const ucg_type_t type_;
    const ucg_coll_t coll_;
    bool input_in_dst_ = false;   // in place
    bool output_in_src_ = false;  // of the root of a scatter in place: nothing comes into dst
    buffer src_, dst_;
    std::vector<std::byte> src_before_, expected_;
    std::vector<bool> undefined_;  // elements of dst that may have any content; empty: none
    std::vector<std::uint64_t> src_counts_, src_places_, dst_counts_, dst_places_;
    bool gives_places_ = false;
};

// The operator of UCG_OP_USER that this collective has.
[[nodiscard]] ucg_user_op_t user_operator(const collective_plan& of) noexcept;

}  // namespace group_sim
