#include "ucg/moe/footprint.hpp"

#include <numeric>

namespace ucg::moe {
namespace {

// Is also right for the smallest number, which has no positive counterpart.
std::uintptr_t magnitude(std::ptrdiff_t stride) noexcept {
    const auto bits = static_cast<std::uintptr_t>(stride);
    return stride < 0 ? ~bits + 1 : bits;
}

}  // namespace

footprint::footprint(const const_stack& tensors, std::uint32_t experts) noexcept {
    const const_matrix& first = tensors.first;
    if (!first || first.rows == 0 || first.elements == 0 || experts == 0) return;
    begin_ = reinterpret_cast<std::uintptr_t>(first.data);
    end_ = begin_ + first.element_bytes();
    reach(first.elements, magnitude(first.element_stride), first.element_stride < 0);
    width_ = end_ - begin_;
    const std::uintptr_t row = magnitude(first.row_stride);
    reach(first.rows, row, first.row_stride < 0);
    const std::uintptr_t expert = magnitude(tensors.expert_stride);
    reach(experts, expert, tensors.expert_stride < 0);
    period_ = std::gcd(first.rows > 1 ? row : 0, experts > 1 ? expert : 0);
}

void footprint::reach(std::uint64_t count, std::uintptr_t distance, bool down) noexcept {
    const std::uintptr_t bytes = (count - 1) * distance;
    if (down)
        begin_ -= bytes;
    else
        end_ += bytes;
}

bool footprint::may_overlap(const footprint& other) const noexcept {
    if (begin_ == end_ || other.begin_ == other.end_) return false;
    if (begin_ >= other.end_ || other.begin_ >= end_) return false;
    // All rows of a tensor begin at the same offset modulo the common period.
    const std::uintptr_t period = std::gcd(period_, other.period_);
    if (period == 0) return true;
    const bool is_first = begin_ <= other.begin_;
    const footprint& low = is_first ? *this : other;
    const footprint& high = is_first ? other : *this;
    const std::uintptr_t between = (high.begin_ - low.begin_) % period;
    return between < low.width_ || between + high.width_ > period;
}

}  // namespace ucg::moe
