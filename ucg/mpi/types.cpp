#include "ucg/mpi/types.hpp"

#include <array>
#include <initializer_list>
#include <vector>

namespace ucg::mpi {
namespace {

// The classes of MPI's chapter on predefined reductions.
enum class kind : std::uint8_t { none, whole, natural, real, complex, pair, logical, byte };

struct known_type {
    layout where;
    kind what = kind::none;
    ucg_type_t type = UCG_TYPE_LAST;
};

// Open addressing; it is never more than half full.
class type_table {
public:
    [[nodiscard]] const known_type* find(MPI_Datatype type) const noexcept {
        for (std::size_t i = place(type);; ++i) {
            const known_type& each = all_[i % slots];
            if (each.where.type == type) return &each;
            if (each.where.type == MPI_DATATYPE_NULL) return nullptr;
        }
    }
    void add(const known_type& one) noexcept {
        if (one.where.type == MPI_DATATYPE_NULL || count_ == slots / 2) return;
        std::size_t i = place(one.where.type);
        while (all_[i % slots].where.type != MPI_DATATYPE_NULL) {
            if (all_[i % slots].where.type == one.where.type) return;
            ++i;
        }
        all_[i % slots] = one;
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

ucg_type_t type_of(kind what, const layout& where) noexcept {
    const std::uint64_t size = where.dense ? where.size : 0;
    switch (what) {
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

void learn(kind what, std::initializer_list<MPI_Datatype> all) noexcept {
    for (const MPI_Datatype each : all) {
        if (each == MPI_DATATYPE_NULL) continue;
        known_type made{layout_of(each), what, UCG_TYPE_LAST};
        made.type = type_of(what, made.where);
        types.add(made);
    }
}

// A value and a place, as C lays them out.
void learn_pair(MPI_Datatype pair, ucg_type_t type) noexcept {
    if (pair == MPI_DATATYPE_NULL) return;
    const layout where = layout_of(pair);
    const bool same = static_cast<std::size_t>(where.extent) == ucg_type_size(type);
    types.add({where, kind::pair, same ? type : UCG_TYPE_LAST});
}

// What a type was made by, and of how many of each.
struct envelope {
#if MPI_VERSION >= 4
    // What was made with large counts is told to the large functions only: the others fail.
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
#else
    int integers = 0, addresses = 0, types = 0;
    static constexpr int counts = 0;
#endif
    int how = MPI_COMBINER_NAMED;

    bool read(MPI_Datatype type) noexcept {
#if MPI_VERSION >= 4
        return PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &how) ==
               MPI_SUCCESS;
#else
        return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &how) == MPI_SUCCESS;
#endif
    }
    // The MPI's own, which nobody frees.
    [[nodiscard]] bool is_given() const noexcept {
        return how == MPI_COMBINER_NAMED || how == MPI_COMBINER_F90_INTEGER ||
               how == MPI_COMBINER_F90_REAL || how == MPI_COMBINER_F90_COMPLEX;
    }
    // One other type that follows itself, or another name of it.
    [[nodiscard]] bool repeats() const noexcept {
        return (how == MPI_COMBINER_CONTIGUOUS || how == MPI_COMBINER_DUP) && types == 1 &&
               addresses == 0 && integers + counts <= 1;
    }
    // The type that repeats() is said of.
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

// Whether a derived type only repeats or renames one that is dense.
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

bool is_number(kind what) noexcept {
    return what == kind::whole || what == kind::natural || what == kind::real;
}
bool is_sum(kind what) noexcept {
    return is_number(what) || what == kind::complex;
}
bool is_truth(kind what) noexcept {
    return what == kind::whole || what == kind::natural || what == kind::logical;
}
bool is_bits(kind what) noexcept {
    return what == kind::whole || what == kind::natural || what == kind::byte;
}
bool is_pair(kind what) noexcept {
    return what == kind::pair;
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
    if (const known_type* const known = types.find(type)) return known->where;
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

reducing reducing_of(MPI_Datatype type, MPI_Op op) noexcept {
    reducing made;
    const known_type* const known = types.find(type);
    made.type_known = known != nullptr && known->type != UCG_TYPE_LAST;
    if (!made.type_known) return made;
    const operator_of meaning = meaning_of(op);
    made.type = known->type;
    made.op = meaning.op;
    made.op_known = meaning.fits != nullptr && meaning.fits(known->what) &&
                    ucg_op_is_defined(made.type, made.op) != 0;
    return made;
}

void learn_types() noexcept {
    learn(kind::whole,
          {MPI_INT, MPI_LONG, MPI_SHORT, MPI_LONG_LONG_INT, MPI_SIGNED_CHAR, MPI_INT8_T,
           MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_INTEGER,
           MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
    learn(kind::natural,
          {MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG_LONG,
           MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
    learn(kind::real,
          {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
    learn(kind::complex, {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX,
                          MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_CXX_FLOAT_COMPLEX,
                          MPI_CXX_DOUBLE_COMPLEX});
    // Truth in Fortran may have any bits: those types are only moved.
    learn(kind::logical, {MPI_C_BOOL, MPI_CXX_BOOL});
    learn(kind::byte, {MPI_BYTE});
    learn(kind::none, {MPI_CHAR, MPI_WCHAR, MPI_CHARACTER, MPI_LOGICAL, MPI_LONG_DOUBLE,
                       MPI_C_LONG_DOUBLE_COMPLEX, MPI_PACKED});
    learn_pair(MPI_FLOAT_INT, UCG_TYPE_FP32_AT);
    learn_pair(MPI_DOUBLE_INT, UCG_TYPE_FP64_AT);
    learn_pair(MPI_LONG_INT, UCG_TYPE_INT64_AT);
    learn_pair(MPI_2INT, UCG_TYPE_INT32_AT);
    learn_pair(MPI_SHORT_INT, UCG_TYPE_INT16_AT);
    learn_pair(MPI_2INTEGER, UCG_TYPE_INT32_AT);
}

}  // namespace ucg::mpi
