// Reducers: the operators of reductions, either a built-in kernel or a function of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ucg/reduce/kernel.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// Not thread-safe, because a reducer may have internal buffers: use one per thread. Outlives the
// operations that use it.
class reducer {
public:
    // `kind`: see kind().
    reducer(std::size_t element, bool commutative, std::uint16_t kind = 0) noexcept
        : element_(element), kind_(kind), commutative_(commutative) {}
    reducer(const reducer&) = delete;
    reducer& operator=(const reducer&) = delete;
    virtual ~reducer() = default;

    // into[i] = from[0][i] op from[1][i] op …, in this order, with any number of sources. `into`
    // may be equal to a source, but must not overlap a source otherwise. `last`: nothing is reduced
    // into these elements later.
    virtual void combine(void* into, const void* const* from, std::size_t sources,
                         std::size_t count, bool last) const noexcept = 0;

    void apply(void* into, const reduction& operands) const noexcept {
        combine(into, operands.from, operands.sources, operands.count, operands.last);
    }

    [[nodiscard]] std::size_t element() const noexcept { return element_; }  // bytes
    [[nodiscard]] bool is_commutative() const noexcept { return commutative_; }
    // For a built-in reducer: kind_of() its type and operation. 0: a function of the caller.
    [[nodiscard]] std::uint16_t kind() const noexcept { return kind_; }

    [[nodiscard]] static constexpr std::uint16_t kind_of(reduce::element type,
                                                         reduce::operation op) noexcept {
        return static_cast<std::uint16_t>(1 + static_cast<std::size_t>(op) * reduce::element_count +
                                          static_cast<std::size_t>(type));
    }

private:
    std::size_t element_;
    std::uint16_t kind_;
    bool commutative_;
};

// Built-in types and operations.
class kernel_reducer final : public reducer {
public:
    // `ranks` is the size of the group, by which the last step of an average divides. The operation
    // must be defined for the type (reduce::is_defined()).
    kernel_reducer(reduce::element type, reduce::operation op, std::uint64_t ranks) noexcept;
    void combine(void* into, const void* const* from, std::size_t sources, std::size_t count,
                 bool last) const noexcept override;

private:
    reduce::kernel kernel_;
    std::uint64_t divisor_;  // 0: not an average
};

// An operator of the caller with the semantics of MPI: inout[i] = in[i] op inout[i].
class user_reducer final : public reducer {
public:
    using function = void (*)(const void* in, void* inout, std::size_t count, void* argument);

    // `element`: bytes of an element, at least 1. A function that is not commutative is called with
    // the data of lower ranks as left operand.
    user_reducer(function op, void* argument, std::size_t element, bool commutative);
    void combine(void* into, const void* const* from, std::size_t sources, std::size_t count,
                 bool last) const noexcept override;

private:
    function op_;
    void* argument_;
    std::size_t piece_;  // capacity of the buffer in elements
    std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace ucg::schedule
