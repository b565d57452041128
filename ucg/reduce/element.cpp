#include "ucg/reduce/element.hpp"

namespace ucg::reduce {
namespace {

enum class family : std::uint8_t { integer, real, complex, with_location };

struct traits {
    const char* name;
    std::size_t size;
    family kind;
};

// In the order of `element`.
constexpr traits elements[element_count] = {
    {"int8", 1, family::integer},
    {"int16", 2, family::integer},
    {"int32", 4, family::integer},
    {"int64", 8, family::integer},
    {"uint8", 1, family::integer},
    {"uint16", 2, family::integer},
    {"uint32", 4, family::integer},
    {"uint64", 8, family::integer},
    {"fp16", 2, family::real},
    {"bf16", 2, family::real},
    {"fp8_e4m3", 1, family::real},
    {"fp8_e5m2", 1, family::real},
    {"fp32", 4, family::real},
    {"fp64", 8, family::real},
    {"complex32", 8, family::complex},
    {"complex64", 16, family::complex},
    {"int16_at", 8, family::with_location},
    {"int32_at", 8, family::with_location},
    {"int64_at", 16, family::with_location},
    {"fp32_at", 8, family::with_location},
    {"fp64_at", 16, family::with_location},
};

constexpr const char* operations[operation_count] = {
    "sum",         "product",    "minimum",     "maximum",     "average",
    "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "minimum_at", "maximum_at",
};

const traits& traits_of(element type) noexcept {
    return elements[static_cast<std::size_t>(type)];
}

}  // namespace

std::size_t size_of(element type) noexcept {
    return traits_of(type).size;
}

bool is_defined(element type, operation op) noexcept {
    const family kind = traits_of(type).kind;
    switch (op) {
        case operation::sum:
        case operation::product:
        case operation::average:
            return kind != family::with_location;
        case operation::minimum:
        case operation::maximum:
            return kind == family::integer || kind == family::real;
        case operation::minimum_at:
        case operation::maximum_at:
            return kind == family::with_location;
        default:
            return kind == family::integer;
    }
}

const char* name(element type) noexcept {
    return traits_of(type).name;
}

const char* name(operation op) noexcept {
    return operations[static_cast<std::size_t>(op)];
}

}  // namespace ucg::reduce
