// How elements are reduced: by a kernel of ours or a function of the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ucg/reduce/kernel.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// Immutable but for buffers of its own: one per thread. Outlives the operations that use it.
class reducer {
public:
    // `kind`: see below.
    reducer(std::size_t element, bool commutative, std::uint16_t kind = 0) noexcept
        : element_(element), kind_(kind), commutative_(commutative) {}
    reducer(const reducer&) = delete;
    reducer& operator=(const reducer&) = delete;
    virtual ~reducer() = default;

    // into[i] = from[0][i] op from[1][i] op …, in this order, of any number of sources. `into` may
    // be one of the sources, and may not overlap one otherwise. `last`: nothing is reduced into
    // these elements later.
    virtual void combine(void* into, const void* const* from, std::size_t sources,
                         std::size_t count, bool last) const noexcept = 0;

    void apply(void* into, const reduction& what) const noexcept {
        combine(into, what.from, what.sources, what.count, what.last);
    }

    [[nodiscard]] std::size_t element() const noexcept { return element_; }  // bytes
    [[nodiscard]] bool commutative() const noexcept { return commutative_; }
    // Which built-in one it is: kind_of() its type and operation. 0: the caller's.
    [[nodiscard]] std::uint16_t kind() const noexcept { return kind_; }

    [[nodiscard]] static constexpr std::uint16_t kind_of(reduce::element what,
                                                         reduce::operation how) noexcept {
        return static_cast<std::uint16_t>(1 +
                                          static_cast<std::size_t>(how) * reduce::element_count +
                                          static_cast<std::size_t>(what));
    }

private:
    std::size_t element_;
    std::uint16_t kind_;
    bool commutative_;
};

// Built-in types and operations.
class kernel_reducer final : public reducer {
public:
    // `ranks`: size of the group, by which the last pass of an average divides. The operation must
    // be defined for the element (reduce::is_defined()).
    kernel_reducer(reduce::element what, reduce::operation how, std::uint64_t ranks) noexcept;
    void combine(void* into, const void* const* from, std::size_t sources, std::size_t count,
                 bool last) const noexcept override;

private:
    reduce::kernel kernel_;
    std::uint64_t divisor_;  // 0: not an average
};

// An operator of the caller's, as MPI has it: inout[i] = in[i] op inout[i].
class user_reducer final : public reducer {
public:
    using function = void (*)(const void* in, void* inout, std::size_t count, void* argument);

    // `element`: bytes of one, at least 1. A function that is not commutative is called with lower
    // ranks on the left.
    user_reducer(function how, void* argument, std::size_t element, bool commutative);
    void combine(void* into, const void* const* from, std::size_t sources, std::size_t count,
                 bool last) const noexcept override;

private:
    function how_;
    void* argument_;
    std::size_t piece_;  // elements that the buffer holds
    std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace ucg::schedule
