#include "ucg/mpi/types.hpp"

#include <array>
#include <initializer_list>

namespace ucg::mpi {
namespace {

// The classes of MPI's chapter on predefined reductions.
enum class kind : std::uint8_t { none, whole, natural, real, complex, pair, logical, byte };

struct known_type {
    layout memory;
    kind class_of = kind::none;
    ucg_type_t type = UCG_TYPE_LAST;
};

// A hash table with open addressing; it is never more than half full.
class type_table {
public:
    [[nodiscard]] const known_type* find(MPI_Datatype type) const noexcept {
        for (std::size_t i = place(type);; ++i) {
            const known_type& each = all_[i % slots];
            if (each.memory.type == type) return &each;
            if (each.memory.type == MPI_DATATYPE_NULL) return nullptr;
        }
    }
    void add(const known_type& added) noexcept {
        if (added.memory.type == MPI_DATATYPE_NULL || count_ == slots / 2) return;
        std::size_t i = place(added.memory.type);
        while (all_[i % slots].memory.type != MPI_DATATYPE_NULL) {
            if (all_[i % slots].memory.type == added.memory.type) return;
            ++i;
        }
        all_[i % slots] = added;
        ++count_;
    }

private:
    static constexpr std::size_t slots = 256;
    static std::size_t place(MPI_Datatype type) noexcept {
        return static_cast<std::size_t>((number_of(type) * 0x9e3779b97f4a7c15ULL) >> 56);
    }
    std::array<known_type, slots> all_{};
    std::size_t count_ = 0;
};

type_table types;

ucg_type_t by_size(std::uint64_t size, std::initializer_list<ucg_type_t> candidates) noexcept {
    for (const ucg_type_t each : candidates)
        if (ucg_type_size(each) == size) return each;
    return UCG_TYPE_LAST;
}

ucg_type_t type_of(kind kind_of_type, const layout& memory) noexcept {
    const std::uint64_t size = memory.dense ? memory.size : 0;
    switch (kind_of_type) {
        case kind::whole:
            return by_size(size, {UCG_TYPE_INT8, UCG_TYPE_INT16, UCG_TYPE_INT32, UCG_TYPE_INT64});
        case kind::natural:
        case kind::logical:
        case kind::byte:
            return by_size(size,
                           {UCG_TYPE_UINT8, UCG_TYPE_UINT16, UCG_TYPE_UINT32, UCG_TYPE_UINT64});
        case kind::real:
            return by_size(size, {UCG_TYPE_FP32, UCG_TYPE_FP64});
        case kind::complex:
            return by_size(size, {UCG_TYPE_COMPLEX32, UCG_TYPE_COMPLEX64});
        default:
            return UCG_TYPE_LAST;
    }
}

void register_all(kind number_kind, std::initializer_list<MPI_Datatype> all) noexcept {
    for (const MPI_Datatype each : all) {
        if (each == MPI_DATATYPE_NULL) continue;
        known_type made{layout_of(each), number_kind, UCG_TYPE_LAST};
        made.type = type_of(number_kind, made.memory);
        types.add(made);
    }
}

// Registers a pair of a value and a place, in the layout of C.
void register_pair(MPI_Datatype pair, ucg_type_t type) noexcept {
    if (pair == MPI_DATATYPE_NULL) return;
    const layout memory = layout_of(pair);
    const bool same = static_cast<std::size_t>(memory.extent) == ucg_type_size(type);
    types.add({memory, kind::pair, same ? type : UCG_TYPE_LAST});
}

// The constructor of a derived type, and the numbers of its arguments.
struct envelope {
#if MPI_VERSION >= 4
    // Only the functions with large counts describe types made with large counts; the others fail.
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
#else
    int integers = 0, addresses = 0, types = 0;
    static constexpr int counts = 0;
#endif
    int combiner = MPI_COMBINER_NAMED;

    bool read(MPI_Datatype type) noexcept {
#if MPI_VERSION >= 4
        return PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner) ==
               MPI_SUCCESS;
#else
        return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) ==
               MPI_SUCCESS;
#endif
    }
    // True for predefined types, which must not be freed.
    [[nodiscard]] bool is_given() const noexcept {
        return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
               combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
    }
    // True if the type is a contiguous sequence or a duplicate of one other type.
    [[nodiscard]] bool repeats() const noexcept {
        return (combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_DUP) &&
               types == 1 && addresses == 0 && integers + counts <= 1;
    }
    // Reads the inner type if repeats() is true.
    bool read_inner(MPI_Datatype type, MPI_Datatype& inner) const noexcept {
        int integer = 0;
        MPI_Aint no_address = 0;
#if MPI_VERSION >= 4
        MPI_Count count = 0;
        return PMPI_Type_get_contents_c(type, integers, 0, counts, 1, &integer, &no_address, &count,
                                        &inner) == MPI_SUCCESS;
#else
        return PMPI_Type_get_contents(type, integers, 0, 1, &integer, &no_address, &inner) ==
               MPI_SUCCESS;
#endif
    }
};

// True if a derived type only repeats or renames a dense type.
bool repeats_a_dense_one(MPI_Datatype type) noexcept {
    envelope made, inner_made;
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    if (!made.read(type)) return false;
    if (made.is_given()) return true;
    if (!made.repeats() || !made.read_inner(type, inner)) return false;
    const bool dense = layout_of(inner).dense;
    if (inner_made.read(inner) && !inner_made.is_given()) PMPI_Type_free(&inner);
    return dense;
}

struct operator_of {
    ucg_op_t op;
    bool (*fits)(kind);
};

bool is_number(kind kind_of_type) noexcept {
    return kind_of_type == kind::whole || kind_of_type == kind::natural ||
           kind_of_type == kind::real;
}
bool is_sum(kind kind_of_type) noexcept {
    return is_number(kind_of_type) || kind_of_type == kind::complex;
}
bool is_truth(kind kind_of_type) noexcept {
    return kind_of_type == kind::whole || kind_of_type == kind::natural ||
           kind_of_type == kind::logical;
}
bool is_bits(kind kind_of_type) noexcept {
    return kind_of_type == kind::whole || kind_of_type == kind::natural ||
           kind_of_type == kind::byte;
}
bool is_pair(kind kind_of_type) noexcept {
    return kind_of_type == kind::pair;
}

operator_of meaning_of(MPI_Op op) noexcept {
    if (op == MPI_SUM) return {UCG_OP_SUM, is_sum};
    if (op == MPI_MAX) return {UCG_OP_MAX, is_number};
    if (op == MPI_MIN) return {UCG_OP_MIN, is_number};
    if (op == MPI_PROD) return {UCG_OP_PRODUCT, is_sum};
    if (op == MPI_LAND) return {UCG_OP_LOGICAL_AND, is_truth};
    if (op == MPI_LOR) return {UCG_OP_LOGICAL_OR, is_truth};
    if (op == MPI_LXOR) return {UCG_OP_LOGICAL_XOR, is_truth};
    if (op == MPI_BAND) return {UCG_OP_BITWISE_AND, is_bits};
    if (op == MPI_BOR) return {UCG_OP_BITWISE_OR, is_bits};
    if (op == MPI_BXOR) return {UCG_OP_BITWISE_XOR, is_bits};
    if (op == MPI_MINLOC) return {UCG_OP_MIN_AT, is_pair};
    if (op == MPI_MAXLOC) return {UCG_OP_MAX_AT, is_pair};
    return {UCG_OP_LAST, nullptr};
}

}  // namespace

layout layout_of(MPI_Datatype type) noexcept {
    if (const known_type* const known = types.find(type)) return known->memory;
    layout made{type, layout::unknown, 0, false};
    MPI_Count size = 0;
    MPI_Aint begin = 0, extent = 0;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS ||
        PMPI_Type_get_extent(type, &begin, &extent) != MPI_SUCCESS || size < 0)
        return made;
    made.size = static_cast<std::uint64_t>(size);
    made.extent = static_cast<std::ptrdiff_t>(extent);
    made.dense = begin == 0 && extent == size && repeats_a_dense_one(type);
    return made;
}

reduction_kind reduction_kind_of(MPI_Datatype type, MPI_Op op) noexcept {
    reduction_kind made;
    const known_type* const known = types.find(type);
    made.type_known = known != nullptr && known->type != UCG_TYPE_LAST;
    if (!made.type_known) return made;
    const operator_of meaning = meaning_of(op);
    made.type = known->type;
    made.op = meaning.op;
    made.op_known = meaning.fits != nullptr && meaning.fits(known->class_of) &&
                    ucg_op_is_defined(made.type, made.op) != 0;
    return made;
}

void register_types() noexcept {
    register_all(kind::whole,
                 {MPI_INT, MPI_LONG, MPI_SHORT, MPI_LONG_LONG_INT, MPI_SIGNED_CHAR, MPI_INT8_T,
                  MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET,
                  MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
    register_all(kind::natural,
                 {MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG_LONG,
                  MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
    register_all(kind::real,
                 {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
    register_all(kind::complex, {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                                 MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16,
                                 MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX});
    // Logical values in Fortran may have any bits, so those types are only moved.
    register_all(kind::logical, {MPI_C_BOOL, MPI_CXX_BOOL});
    register_all(kind::byte, {MPI_BYTE});
    register_all(kind::none, {MPI_CHAR, MPI_WCHAR, MPI_CHARACTER, MPI_LOGICAL, MPI_LONG_DOUBLE,
                              MPI_C_LONG_DOUBLE_COMPLEX, MPI_PACKED});
    register_pair(MPI_FLOAT_INT, UCG_TYPE_FP32_AT);
    register_pair(MPI_DOUBLE_INT, UCG_TYPE_FP64_AT);
    register_pair(MPI_LONG_INT, UCG_TYPE_INT64_AT);
    register_pair(MPI_2INT, UCG_TYPE_INT32_AT);
    register_pair(MPI_SHORT_INT, UCG_TYPE_INT16_AT);
    register_pair(MPI_2INTEGER, UCG_TYPE_INT32_AT);
}

}  // namespace ucg::mpi
