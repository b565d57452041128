#include "ucg/schedule/reducer.hpp"

#include <algorithm>
#include <cstring>

namespace ucg::schedule {
namespace {

constexpr std::size_t buffer_bytes = 8192;  // stays in the first-level cache

}  // namespace

kernel_reducer::kernel_reducer(reduce::element type, reduce::operation op,
                               std::uint64_t ranks) noexcept
    : reducer(reduce::size_of(type), true, kind_of(type, op)),
      kernel_(reduce::find_kernel(type, op)),
      divisor_(op == reduce::operation::average ? ranks : 0) {}

void kernel_reducer::combine(void* into, const void* const* from, std::size_t sources,
                             std::size_t count, bool last) const noexcept {
    kernel_({into, from, sources, count, last ? divisor_ : 0});
}

user_reducer::user_reducer(function op, void* argument, std::size_t element, bool commutative)
    : reducer(element, commutative),
      op_(op),
      argument_(argument),
      piece_(std::max<std::size_t>(buffer_bytes / element, 1)),
      buffer_(std::make_unique<std::byte[]>(piece_ * element)) {}

// The function overwrites its right operand, which is rarely the destination. So the rightmost
// source is copied piece by piece, and the other sources are reduced into the copy from right to
// left.
void user_reducer::combine(void* into, const void* const* from, std::size_t sources,
                           std::size_t total, bool) const noexcept {
    for (std::size_t begin = 0; begin < total; begin += piece_) {
        const std::size_t count = std::min(piece_, total - begin);
        const std::size_t offset = begin * element();
        const auto source = [&](std::size_t i) {
            return static_cast<const std::byte*>(from[i]) + offset;
        };
        std::memcpy(buffer_.get(), source(sources - 1), count * element());
        for (std::size_t i = sources - 1; i-- > 0;)
            op_(source(i), buffer_.get(), count, argument_);
        std::memcpy(static_cast<std::byte*>(into) + offset, buffer_.get(), count * element());
    }
}

}  // namespace ucg::schedule
