#include "ucg/moe/check.hpp"

#include <algorithm>
#include <numeric>

#include "ucg/schedule/log.hpp"

namespace ucg::moe {

namespace {

// `divisor` is a power of two, so the test also works for negative strides.
bool is_multiple(std::ptrdiff_t stride, std::size_t divisor) noexcept {
    return static_cast<std::size_t>(stride) % divisor == 0;
}

bool is_aligned(const const_matrix& tensor) noexcept {
    const std::size_t size = tensor.element_bytes();
    return reinterpret_cast<std::uintptr_t>(tensor.data) % size == 0 &&
           is_multiple(tensor.row_stride, size) && is_multiple(tensor.element_stride, size);
}

}  // namespace

void argument_checks::refuse(ucs_status_t status) noexcept {
    if (status_ == UCS_OK) status_ = status;
}

void argument_checks::check_shape(const char* name, const const_matrix& tensor,
                                  std::uint64_t least_rows, std::uint32_t elements) noexcept {
    if (status_ != UCS_OK) return;
    if (tensor.elements != elements || elements == 0 || tensor.row_bytes() > max_row_bytes) {
        ucs::log::error(moe_log, "{}: the {} has rows of {} elements: give {}, at most {} bytes",
                        operation_, name, tensor.elements, elements, max_row_bytes);
        refuse(UCS_ERR_INVALID_PARAM);
    } else if (tensor.rows < least_rows) {
        ucs::log::error(moe_log, "{}: the {} has {} rows: give at least {}", operation_, name,
                        tensor.rows, least_rows);
        refuse(UCS_ERR_BUFFER_TOO_SMALL);
    } else if (least_rows != 0 && (!tensor || !is_aligned(tensor))) {
        ucs::log::error(
            moe_log,
            "{}: the {} lies at {} with strides of {} and {} bytes: give memory that is "
            "aligned for elements of {} bytes",
            operation_, name, static_cast<const void*>(tensor.data), tensor.row_stride,
            tensor.element_stride, tensor.element_bytes());
        refuse(UCS_ERR_INVALID_PARAM);
    }
}

void argument_checks::check_stack(const char* name, const const_stack& tensor,
                                  std::uint64_t least_rows, std::uint32_t elements) noexcept {
    check_shape(name, tensor.first, least_rows, elements);
    if (status_ != UCS_OK || is_multiple(tensor.expert_stride, tensor.first.element_bytes()))
        return;
    ucs::log::error(moe_log,
                    "{}: the {} has experts at distances of {} bytes: give a multiple of the {} of "
                    "an element",
                    operation_, name, tensor.expert_stride, tensor.first.element_bytes());
    refuse(UCS_ERR_INVALID_PARAM);
}

void argument_checks::check_type(const char* name, const const_matrix& tensor, const char* wanted,
                                 std::initializer_list<reduce::element> allowed) noexcept {
    if (status_ != UCS_OK || std::ranges::find(allowed, tensor.type) != allowed.end()) return;
    ucs::log::error(moe_log, "{}: the {} is of {}: give {}", operation_, name,
                    reduce::name(tensor.type), wanted);
    refuse(UCS_ERR_INVALID_PARAM);
}

void argument_checks::check_multiple(const char* name, const const_matrix& tensor,
                                     std::uint32_t divisor) noexcept {
    if (status_ != UCS_OK || tensor.elements % divisor == 0) return;
    ucs::log::error(moe_log, "{}: the {} has rows of {} elements: give a multiple of {}",
                    operation_, name, tensor.elements, divisor);
    refuse(UCS_ERR_INVALID_PARAM);
}

void argument_checks::check_dense_rows(const char* name, const const_matrix& tensor) noexcept {
    if (status_ != UCS_OK || tensor.elements <= 1 || tensor.rows == 0 || tensor.has_dense_rows())
        return;
    ucs::log::error(moe_log,
                    "{}: the {} has elements at distances of {} bytes: give rows that are dense",
                    operation_, name, tensor.element_stride);
    refuse(UCS_ERR_INVALID_PARAM);
}

void argument_checks::check_dense(const char* name, const const_matrix& tensor) noexcept {
    check_dense_rows(name, tensor);
    if (status_ != UCS_OK || tensor.rows <= 1 || tensor.is_dense()) return;
    ucs::log::error(moe_log, "{}: the {} has rows at distances of {} bytes: give {}, without gaps",
                    operation_, name, tensor.row_stride, tensor.row_bytes());
    refuse(UCS_ERR_INVALID_PARAM);
}

void argument_checks::check_same_form(const char* name, const const_matrix& tensor,
                                      const const_matrix& like, std::uint64_t least_rows) noexcept {
    if (status_ != UCS_OK || (like.elements == 0 && tensor.elements == 0)) return;
    check_shape(name, tensor, least_rows, like.elements);
    check_type(name, tensor, "the type of the input", {like.type});
}

void argument_checks::check_input(const const_parts& tensors, std::uint64_t rows,
                                  std::uint32_t k) noexcept {
    check_shape("x", tensors[values], rows, tensors[values].elements);
    if (tensors[weights].elements != 0) {
        check_shape("weights", tensors[weights], rows, k);
        check_type("weights", tensors[weights], "fp32", {reduce::element::fp32});
    }
    if (tensors[scales].elements == 0) return;
    check_shape("scales", tensors[scales], rows, tensors[scales].elements);
    check_type("scales", tensors[scales], "fp32, int32 or uint8",
               {reduce::element::fp32, reduce::element::int32, reduce::element::uint8});
    check_type("x with scales", tensors[values], "fp8_e4m3", {reduce::element::fp8_e4m3});
}

void argument_checks::check_output_weights(const const_matrix& tensor, bool wanted,
                                           std::uint64_t least_rows,
                                           std::uint32_t elements) noexcept {
    if (status_ != UCS_OK || (!wanted && tensor.elements == 0)) return;
    check_shape("weights of the output", tensor, least_rows, wanted ? elements : 0);
    check_type("weights of the output", tensor, "fp32", {reduce::element::fp32});
}

void argument_checks::check_overlap(std::initializer_list<tensor_use> all) noexcept {
    if (status_ != UCS_OK) return;
    for (const tensor_use* a = all.begin(); a != all.end(); ++a) {
        for (const tensor_use* b = a + 1; b != all.end(); ++b) {
            if ((!a->is_written && !b->is_written) || !a->memory.may_overlap(b->memory)) continue;
            ucs::log::error(
                moe_log,
                "{}: the {} and the {} overlap: a tensor that is written needs its own memory",
                operation_, a->name, b->name);
            return refuse(UCS_ERR_INVALID_PARAM);
        }
    }
}

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
