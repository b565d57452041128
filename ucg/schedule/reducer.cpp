#include "ucg/schedule/reducer.hpp"

#include <algorithm>
#include <cstring>

namespace ucg::schedule {
namespace {

constexpr std::size_t buffer_bytes = 8192;  // stays in the first-level cache

}  // namespace

kernel_reducer::kernel_reducer(reduce::element what, reduce::operation how,
                               std::uint64_t ranks) noexcept
    : reducer(reduce::size_of(what), true, kind_of(what, how)),
      kernel_(reduce::find_kernel(what, how)),
      divisor_(how == reduce::operation::average ? ranks : 0) {}

void kernel_reducer::combine(void* into, const void* const* from, std::size_t sources,
                             std::size_t count, bool last) const noexcept {
    kernel_({into, from, sources, count, last ? divisor_ : 0});
}

user_reducer::user_reducer(function how, void* argument, std::size_t element, bool commutative)
    : reducer(element, commutative),
      how_(how),
      argument_(argument),
      piece_(std::max<std::size_t>(buffer_bytes / element, 1)),
      buffer_(std::make_unique<std::byte[]>(piece_ * element)) {}

// The function overwrites its right operand, which is rarely where the result belongs: so the
// rightmost source is copied in pieces, and the others are worked into the copy from the right.
void user_reducer::combine(void* into, const void* const* from, std::size_t sources,
                           std::size_t total, bool) const noexcept {
    for (std::size_t begin = 0; begin < total; begin += piece_) {
        const std::size_t count = std::min(piece_, total - begin);
        const std::size_t at = begin * element();
        const auto source = [&](std::size_t i) {
            return static_cast<const std::byte*>(from[i]) + at;
        };
        std::memcpy(buffer_.get(), source(sources - 1), count * element());
        for (std::size_t i = sources - 1; i-- > 0;)
            how_(source(i), buffer_.get(), count, argument_);
        std::memcpy(static_cast<std::byte*>(into) + at, buffer_.get(), count * element());
    }
}

}  // namespace ucg::schedule
