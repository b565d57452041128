#include "ucg/reduce/element.hpp"

#include "ucg/reduce/types.hpp"

namespace ucg::reduce {
namespace {

constexpr const char* operations[operation_count] = {
    "sum",         "product",    "minimum",     "maximum",     "average",
    "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "minimum_at", "maximum_at",
};

}  // namespace

std::size_t size_of(element type) noexcept {
    return visit(type, []<class As>(As) { return sizeof(typename As::stored); });
}

bool is_defined(element type, operation op) noexcept {
    return visit(type, [op]<class As>(As) { return is_defined(As::kind, op); });
}

const char* name(element type) noexcept {
    switch (type) {
#define UCG_REDUCE_NAME(name, ...) \
    case element::name:            \
        return #name;
        UCG_REDUCE_TYPES(UCG_REDUCE_NAME)
#undef UCG_REDUCE_NAME
    }
    return nullptr;
}

const char* name(operation op) noexcept {
    return operations[static_cast<std::size_t>(op)];
}

}  // namespace ucg::reduce
