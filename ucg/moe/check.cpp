#include "ucg/moe/check.hpp"

#include <algorithm>

#include "ucg/moe/log.hpp"

namespace ucg::moe {
namespace {

// Sizes are powers of two.
bool is_multiple(std::ptrdiff_t stride, std::size_t of) noexcept {
    return static_cast<std::size_t>(stride) % of == 0;
}

bool is_aligned(const const_matrix& what) noexcept {
    const std::size_t size = what.element_bytes();
    return reinterpret_cast<std::uintptr_t>(what.data) % size == 0 &&
           is_multiple(what.row_stride, size) && is_multiple(what.element_stride, size);
}

}  // namespace

void checking::refuse(ucs_status_t why) noexcept {
    if (status_ == UCS_OK) status_ = why;
}

void checking::shape(const char* which, const const_matrix& what, std::uint64_t least_rows,
                     std::uint32_t elements) noexcept {
    if (status_ != UCS_OK) return;
    if (what.elements != elements || elements == 0 || what.row_bytes() > most_row_bytes) {
        ucs::log::error(moe_log, "{}: the {} has rows of {} elements: give {}, at most {} bytes",
                        operation_, which, what.elements, elements, most_row_bytes);
        refuse(UCS_ERR_INVALID_PARAM);
    } else if (what.rows < least_rows) {
        ucs::log::error(moe_log, "{}: the {} has {} rows: give at least {}", operation_, which,
                        what.rows, least_rows);
        refuse(UCS_ERR_BUFFER_TOO_SMALL);
    } else if (least_rows != 0 && (!what || !is_aligned(what))) {
        ucs::log::error(
            moe_log,
            "{}: the {} lies at {} with strides of {} and {} bytes: give memory that is "
            "aligned for elements of {} bytes",
            operation_, which, static_cast<const void*>(what.data), what.row_stride,
            what.element_stride, what.element_bytes());
        refuse(UCS_ERR_INVALID_PARAM);
    }
}

void checking::stacked(const char* which, const const_stack& what, std::uint64_t least_rows,
                       std::uint32_t elements) noexcept {
    shape(which, what.first, least_rows, elements);
    if (status_ != UCS_OK || is_multiple(what.expert_stride, what.first.element_bytes())) return;
    ucs::log::error(moe_log,
                    "{}: the {} has experts at distances of {} bytes: give a multiple of the {} of "
                    "an element",
                    operation_, which, what.expert_stride, what.first.element_bytes());
    refuse(UCS_ERR_INVALID_PARAM);
}

void checking::of_type(const char* which, const const_matrix& what, const char* wanted,
                       std::initializer_list<reduce::element> among) noexcept {
    if (status_ != UCS_OK || std::ranges::find(among, what.type) != among.end()) return;
    ucs::log::error(moe_log, "{}: the {} is of {}: give {}", operation_, which,
                    reduce::name(what.type), wanted);
    refuse(UCS_ERR_INVALID_PARAM);
}

void checking::multiple(const char* which, const const_matrix& what, std::uint32_t of) noexcept {
    if (status_ != UCS_OK || what.elements % of == 0) return;
    ucs::log::error(moe_log, "{}: the {} has rows of {} elements: give a multiple of {}",
                    operation_, which, what.elements, of);
    refuse(UCS_ERR_INVALID_PARAM);
}

void checking::dense_rows(const char* which, const const_matrix& what) noexcept {
    if (status_ != UCS_OK || what.elements <= 1 || what.rows == 0 || what.dense_rows()) return;
    ucs::log::error(moe_log,
                    "{}: the {} has elements at distances of {} bytes: give rows that are dense",
                    operation_, which, what.element_stride);
    refuse(UCS_ERR_INVALID_PARAM);
}

void checking::dense(const char* which, const const_matrix& what) noexcept {
    dense_rows(which, what);
    if (status_ != UCS_OK || what.rows <= 1 || what.dense()) return;
    ucs::log::error(moe_log, "{}: the {} has rows at distances of {} bytes: give {}, without gaps",
                    operation_, which, what.row_stride, what.row_bytes());
    refuse(UCS_ERR_INVALID_PARAM);
}

void checking::alike(const char* which, const const_matrix& what, const const_matrix& like,
                     std::uint64_t least_rows) noexcept {
    if (status_ != UCS_OK || (like.elements == 0 && what.elements == 0)) return;
    shape(which, what, least_rows, like.elements);
    of_type(which, what, "the type of the input", {like.type});
}

void checking::input(const const_parts& what, std::uint64_t rows, std::uint32_t k) noexcept {
    shape("x", what[values], rows, what[values].elements);
    if (what[weights].elements != 0) {
        shape("weights", what[weights], rows, k);
        of_type("weights", what[weights], "fp32", {reduce::element::fp32});
    }
    if (what[scales].elements == 0) return;
    shape("scales", what[scales], rows, what[scales].elements);
    of_type("scales", what[scales], "fp32, int32 or uint8",
            {reduce::element::fp32, reduce::element::int32, reduce::element::uint8});
    of_type("x with scales", what[values], "fp8_e4m3", {reduce::element::fp8_e4m3});
}

void checking::output_weights(const const_matrix& what, bool wanted, std::uint64_t least_rows,
                              std::uint32_t elements) noexcept {
    if (status_ != UCS_OK || (!wanted && what.elements == 0)) return;
    shape("weights of the output", what, least_rows, wanted ? elements : 0);
    of_type("weights of the output", what, "fp32", {reduce::element::fp32});
}

void checking::apart(std::initializer_list<used> all) noexcept {
    if (status_ != UCS_OK) return;
    for (const used* a = all.begin(); a != all.end(); ++a) {
        for (const used* b = a + 1; b != all.end(); ++b) {
            if ((!a->is_written && !b->is_written) || !a->where.meets(b->where)) continue;
            ucs::log::error(moe_log,
                            "{}: the {} and the {} overlap: give what is written memory of its own",
                            operation_, a->which, b->which);
            return refuse(UCS_ERR_INVALID_PARAM);
        }
    }
}

}  // namespace ucg::moe
