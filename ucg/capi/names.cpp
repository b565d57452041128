// Names of collectives, types, operations and algorithms, and sizes of types.
#include <ucg/api/ucg_info.h>

#include "ucg/algo/table.hpp"
#include "ucg/reduce/element.hpp"
#include "ucg/schedule/call.hpp"

namespace {

bool is_element(ucg_type_t type) noexcept {
    return type >= 0 && type < UCG_TYPE_OPAQUE;
}

bool is_operation(ucg_op_t op) noexcept {
    return op >= 0 && op < UCG_OP_USER;
}

}  // namespace

size_t ucg_type_size(ucg_type_t type) {
    return is_element(type) ? ucg::reduce::size_of(static_cast<ucg::reduce::element>(type)) : 0;
}

int ucg_op_is_defined(ucg_type_t type, ucg_op_t op) {
    if (op == UCG_OP_USER) return type >= 0 && type < UCG_TYPE_LAST ? 1 : 0;
    if (!is_element(type) || !is_operation(op)) return 0;
    return ucg::reduce::is_defined(static_cast<ucg::reduce::element>(type),
                                   static_cast<ucg::reduce::operation>(op))
               ? 1
               : 0;
}

const char* ucg_coll_name(ucg_coll_t coll) {
    return coll >= 0 && coll < UCG_COLL_LAST
               ? ucg::schedule::name(static_cast<ucg::schedule::collective>(coll))
               : "unknown";
}

const char* ucg_algorithm_name(ucg_coll_t coll, unsigned index) {
    if (coll < 0 || coll >= UCG_COLL_LAST) return nullptr;
    const auto rows = ucg::algo::algorithms(static_cast<ucg::schedule::collective>(coll));
    return index < rows.size() ? rows[index].name : nullptr;
}

const char* ucg_type_name(ucg_type_t type) {
    if (type == UCG_TYPE_OPAQUE) return "opaque";
    return is_element(type) ? ucg::reduce::name(static_cast<ucg::reduce::element>(type))
                            : "unknown";
}

const char* ucg_op_name(ucg_op_t op) {
    if (op == UCG_OP_USER) return "user";
    return is_operation(op) ? ucg::reduce::name(static_cast<ucg::reduce::operation>(op))
                            : "unknown";
}
