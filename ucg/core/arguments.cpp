#include "ucg/core/arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>

#include "ucg/schedule/log.hpp"

namespace ucg {
namespace {

using schedule::collective;
using schedule::rank_t;

// The C names have the same values as the enumerators.
static_assert(UCG_COLL_LAST == schedule::collective_count);
static_assert(UCG_COLL_EXSCAN == static_cast<int>(collective::exscan));
static_assert(UCG_COLL_REDUCE_SCATTER == static_cast<int>(collective::reduce_scatter));
static_assert(UCG_TYPE_OPAQUE == reduce::element_count);
static_assert(UCG_TYPE_FP64_AT == static_cast<int>(reduce::element::fp64_at));
static_assert(UCG_TYPE_FP32 == static_cast<int>(reduce::element::fp32));
static_assert(UCG_OP_USER == reduce::operation_count);
static_assert(UCG_OP_MAX_AT == static_cast<int>(reduce::operation::maximum_at));
static_assert(UCG_OP_AVERAGE == static_cast<int>(reduce::operation::average));

constexpr std::uint64_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;

template<class... Values>
ucs_status_t refuse(const ucg_coll_args_t& args, ucs_status_t status,
                    fmt::format_string<Values...> why, Values&&... values) {
    ucs::log::error(core_log, "{}: {}", ucg_coll_name(args.coll),
                    fmt::format(why, std::forward<Values>(values)...));
    return status;
}

std::size_t element_of(const ucg_coll_args_t& args) noexcept {
    return args.type == UCG_TYPE_OPAQUE ? args.element_size : ucg_type_size(args.type);
}

// The number of elements of one side of an operation in memory, including gaps between blocks.
class extents {
public:
    extents(const ucg_coll_args_t& args, rank_t rank, rank_t size)
        : args_(args),
          rank_(rank),
          size_(size),
          at_root_(rank == args.root),
          in_place_((args.flags & UCG_COLL_IN_PLACE) != 0),
          max_elements_(most_bytes / element_of(args)) {}

    // Elements from the beginning of the buffer to the end of its last block. Nothing if their
    // bytes overflow, on this rank or at the root.
    [[nodiscard]] std::optional<std::uint64_t> source() const {
        switch (static_cast<collective>(args_.coll)) {
            case collective::barrier:
            case collective::bcast:
                return 0;
            case collective::scatter:
                return at_root_only(times(args_.count, size_));
            case collective::scatterv:
                return at_root_ ? blocks(args_.src_counts, args_.src_displs) : 0;
            case collective::allgatherv:
                return limited(args_.dst_counts[rank_]);
            case collective::reduce_scatter:
                return blocks(args_.dst_counts, nullptr);
            case collective::reduce_scatter_block:
            case collective::alltoall:
                return times(args_.count, size_);
            case collective::alltoallv:
                return blocks(args_.src_counts, args_.src_displs);
            default:
                return limited(args_.count);
        }
    }
    [[nodiscard]] std::optional<std::uint64_t> target() const {
        switch (static_cast<collective>(args_.coll)) {
            case collective::barrier:
                return 0;
            case collective::reduce:
                return at_root_only(limited(args_.count));
            case collective::reduce_scatter:
                return in_place_ ? blocks(args_.dst_counts, nullptr)
                                 : limited(args_.dst_counts[rank_]);
            case collective::reduce_scatter_block:
                return in_place_ ? times(args_.count, size_) : limited(args_.count);
            case collective::gather:
                return at_root_only(times(args_.count, size_));
            case collective::gatherv:
                return at_root_ ? blocks(args_.dst_counts, args_.dst_displs) : 0;
            case collective::allgather:
            case collective::alltoall:
                return times(args_.count, size_);
            case collective::allgatherv:
            case collective::alltoallv:
                return blocks(args_.dst_counts, args_.dst_displs);
            default:
                return limited(args_.count);
        }
    }

private:
    using elements = std::optional<std::uint64_t>;

    [[nodiscard]] elements limited(std::uint64_t count) const {
        return count <= max_elements_ ? elements(count) : std::nullopt;
    }
    [[nodiscard]] elements times(std::uint64_t count, rank_t factor) const {
        return count <= max_elements_ / factor ? elements(count * factor) : std::nullopt;
    }
    // Elements of a buffer that only the root has. Every rank detects an overflow.
    [[nodiscard]] elements at_root_only(elements all) const { return at_root_ || !all ? all : 0; }
    [[nodiscard]] elements blocks(const std::uint64_t* counts, const std::uint64_t* offsets) const {
        std::uint64_t end = 0;
        for (rank_t i = 0; i < size_; ++i) {
            const std::uint64_t begin = offsets != nullptr ? offsets[i] : end;
            if (counts[i] > max_elements_ || begin > max_elements_ - counts[i]) return std::nullopt;
            if (counts[i] != 0 || offsets == nullptr) end = std::max(end, begin + counts[i]);
        }
        return end;
    }

    const ucg_coll_args_t& args_;
    const rank_t rank_;
    const rank_t size_;
    const bool at_root_;
    const bool in_place_;
    const std::uint64_t max_elements_;
};

ucs_status_t check_names(const ucg_coll_args_t& args, rank_t size) {
    if (args.coll < 0 || args.coll >= UCG_COLL_LAST) {
        ucs::log::error(core_log, "{} is no collective operation", static_cast<int>(args.coll));
        return UCS_ERR_INVALID_PARAM;
    }
    const auto type = static_cast<collective>(args.coll);
    if (args.type < 0 || args.type >= UCG_TYPE_LAST)
        return refuse(args, UCS_ERR_INVALID_PARAM, "{} is no type", static_cast<int>(args.type));
    constexpr unsigned known = UCG_COLL_IN_PLACE | UCG_COLL_DETERMINISTIC;
    if ((args.flags & ~known) != 0)
        return refuse(args, UCS_ERR_UNSUPPORTED, "unknown flags 0x{:x}", args.flags & ~known);
    if (args.type == UCG_TYPE_OPAQUE && (args.element_size == 0 || args.element_size > most_bytes))
        return refuse(args, UCS_ERR_INVALID_PARAM, "an opaque type needs element_size");
    if (traits_of(type).has_root() && args.root >= size)
        return refuse(args, UCS_ERR_INVALID_PARAM, "root {} of {} ranks", args.root, size);
    if (type == collective::bcast && (args.flags & UCG_COLL_IN_PLACE) != 0)
        return refuse(args, UCS_ERR_INVALID_PARAM, "is in place as it is");
    if (!traits_of(type).reduces) return UCS_OK;
    if (args.op < 0 || args.op >= UCG_OP_LAST)
        return refuse(args, UCS_ERR_INVALID_PARAM, "{} is no operation", static_cast<int>(args.op));
    if (args.op == UCG_OP_USER) {
        if (args.user_op == nullptr || args.user_op->struct_size < sizeof(ucg_user_op_t) ||
            args.user_op->function == nullptr)
            return refuse(args, UCS_ERR_INVALID_PARAM, "the user's operator is not given");
        return UCS_OK;
    }
    if (traits_of(type).scans && args.op == UCG_OP_AVERAGE)
        return refuse(args, UCS_ERR_UNSUPPORTED, "has no average: each rank would have another");
    if (!ucg_op_is_defined(args.type, args.op))
        return refuse(args, UCS_ERR_UNSUPPORTED, "{} is not defined for {}", ucg_op_name(args.op),
                      ucg_type_name(args.type));
    return UCS_OK;
}

ucs_status_t check_arrays(const ucg_coll_args_t& args, rank_t rank) {
    const bool in_place = (args.flags & UCG_COLL_IN_PLACE) != 0;
    bool missing = false;
    switch (static_cast<collective>(args.coll)) {
        case collective::gatherv:
            missing = rank == args.root && args.dst_counts == nullptr;
            break;
        case collective::scatterv:
            missing = rank == args.root && args.src_counts == nullptr;
            break;
        case collective::allgatherv:
        case collective::reduce_scatter:
            missing = args.dst_counts == nullptr;
            break;
        case collective::alltoallv:
            missing = args.dst_counts == nullptr || (!in_place && args.src_counts == nullptr);
            break;
        default:
            break;
    }
    return missing ? refuse(args, UCS_ERR_INVALID_PARAM, "the array of counts is NULL") : UCS_OK;
}

// Returns whether the input is in dst instead of src.
bool source_is_in_target(const ucg_coll_args_t& args, rank_t rank) noexcept {
    const schedule::traits type = traits_of(static_cast<collective>(args.coll));
    return (args.flags & UCG_COLL_IN_PLACE) != 0 && !type.root_gives &&
           (!type.root_takes || rank == args.root);
}

// Returns whether dst gets no data although it has room: the root's block of a scatter in place.
bool target_is_in_source(const ucg_coll_args_t& args, rank_t rank) noexcept {
    return (args.flags & UCG_COLL_IN_PLACE) != 0 && rank == args.root &&
           traits_of(static_cast<collective>(args.coll)).root_gives;
}

bool overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(a);
    const auto second = reinterpret_cast<std::uintptr_t>(b);
    return a_bytes != 0 && b_bytes != 0 && first < second + b_bytes && second < first + a_bytes;
}

ucs_status_t check_counts(const ucg_coll_args_t& args, rank_t rank, rank_t size) {
    const extents all(args, rank, size);
    if ((source_is_in_target(args, rank) || all.source()) &&
        (target_is_in_source(args, rank) || all.target()))
        return UCS_OK;
    return refuse(args, UCS_ERR_OUT_OF_RANGE, "more bytes than an address can have");
}

// Checks that no blocks in dst overlap, because the result would depend on their order of arrival.
// Precondition: their ends do not overflow.
ucs_status_t check_targets(const ucg_coll_args_t& args, rank_t rank, rank_t size) {
    const schedule::traits type = traits_of(static_cast<collective>(args.coll));
    const bool takes_blocks = type.takes_blocks && (!type.root_takes || rank == args.root);
    if (!type.has_counts || !takes_blocks || args.dst_displs == nullptr) return UCS_OK;
    std::vector<rank_t> filled;
    filled.reserve(size);
    for (rank_t i = 0; i < size; ++i)
        if (args.dst_counts[i] != 0) filled.push_back(i);
    const auto offset = [&](rank_t i) { return args.dst_displs[i]; };
    if (!std::ranges::is_sorted(filled, {}, offset)) std::ranges::sort(filled, {}, offset);
    for (std::size_t i = 1; i < filled.size(); ++i) {
        const rank_t low = filled[i - 1];
        const rank_t high = filled[i];
        if (offset(low) + args.dst_counts[low] > offset(high))
            return refuse(
                args, UCS_ERR_INVALID_PARAM,
                "the blocks of ranks {} and {} in dst overlap: {} elements from {} on and "
                "{} from {} on",
                low, high, args.dst_counts[low], offset(low), args.dst_counts[high], offset(high));
    }
    return UCS_OK;
}

// Returns the offsets of blocks: the given ones, or computed ones in `made` if none were given.
const std::uint64_t* offsets_of(const std::uint64_t* counts, const std::uint64_t* given,
                                rank_t size, std::vector<std::uint64_t>& made) {
    if (given != nullptr || counts == nullptr) return given;
    made.assign(size, 0);
    for (rank_t i = 1; i < size; ++i)
        made[i] = made[i - 1] + counts[i - 1];
    return made.data();
}

std::unique_ptr<schedule::reducer> make_reducer(const ucg_coll_args_t& args, std::size_t element,
                                                rank_t size) {
    if (args.op == UCG_OP_USER)
        return std::make_unique<schedule::user_reducer>(args.user_op->function, args.user_op->arg,
                                                        element, args.user_op->commutative != 0);
    return std::make_unique<schedule::kernel_reducer>(
        static_cast<reduce::element>(args.type), static_cast<reduce::operation>(args.op), size);
}

}  // namespace

ucs::result<ucg_coll_args_t> arguments::copy(const ucg_coll_args_t* args) {
    ucg_coll_args_t all = UCG_COLL_ARGS_INIT;
    if (args == nullptr || args->struct_size < offsetof(ucg_coll_args_t, flags)) {
        ucs::log::error(core_log,
                        "the arguments of an operation are NULL or were not initialised by "
                        "UCG_COLL_ARGS_INIT");
        return UCS_ERR_INVALID_PARAM;
    }
    std::memcpy(&all, args, std::min(args->struct_size, sizeof all));
    all.struct_size = sizeof all;
    return all;
}

ucs_status_t arguments::check_buffers(const ucg_coll_args_t& args, rank_t rank, rank_t size) {
    const std::size_t element = element_of(args);
    const extents all(args, rank, size);
    const std::uint64_t source = source_is_in_target(args, rank) ? 0 : *all.source();
    const std::uint64_t target = target_is_in_source(args, rank) ? 0 : *all.target();
    if (source != 0 && args.src == nullptr)
        return refuse(args, UCS_ERR_INVALID_PARAM, "src is NULL, for {} elements", source);
    if (target != 0 && args.dst == nullptr)
        return refuse(args, UCS_ERR_INVALID_PARAM, "dst is NULL, for {} elements", target);
    if (overlap(args.src, source * element, args.dst, target * element))
        return refuse(args, UCS_ERR_INVALID_PARAM,
                      "src and dst overlap; UCG_COLL_IN_PLACE is for one buffer");
    return UCS_OK;
}

ucs_status_t arguments::check_own(const ucg_coll_args_t& args, rank_t rank, rank_t size) {
    if (args.timeout < 0 || args.timeout != args.timeout)
        return refuse(args, UCS_ERR_INVALID_PARAM, "a timeout of {} s", args.timeout);
    if (args.src_memory != UCS_MEMORY_TYPE_HOST || args.dst_memory != UCS_MEMORY_TYPE_HOST)
        return refuse(args, UCS_ERR_UNSUPPORTED, "only host memory is served");
    const ucs_status_t status = check_buffers(args, rank, size);
    return status != UCS_OK ? status : check_targets(args, rank, size);
}

ucs::result<arguments> arguments::read(const ucg_coll_args_t& args, rank_t rank, rank_t size) {
    if (const ucs_status_t status = check_names(args, size); status != UCS_OK) return status;
    if (const ucs_status_t status = check_arrays(args, rank); status != UCS_OK) return status;
    if (const ucs_status_t status = check_counts(args, rank, size); status != UCS_OK) return status;

    arguments made;
    const auto type = static_cast<collective>(args.coll);
    const schedule::traits kind = traits_of(type);
    made.deterministic = (args.flags & UCG_COLL_DETERMINISTIC) != 0;
    schedule::call& call = made.call;
    call.kind = type;
    call.from = args.src;
    call.into = args.dst;
    call.count = args.count;
    call.element = element_of(args);
    call.root = kind.has_root() ? args.root : 0;
    // All ranks may set the flag, but of a gather, reduction or scatter only the root is in place.
    call.in_place = source_is_in_target(args, rank) || target_is_in_source(args, rank);
    if (kind.reduces) {
        made.reducer = make_reducer(args, call.element, size);
        call.op = made.reducer.get();
    }
    const auto element = static_cast<double>(call.element);
    made.bytes = static_cast<double>(args.count) * element;
    if (type == collective::barrier) {
        call.count = 0;
        made.bytes = 0;
    }
    if (!kind.has_counts) return made;
    const bool in_source = type == collective::scatterv;
    call.counts = in_source ? args.src_counts : args.dst_counts;
    call.offsets =
        offsets_of(call.counts, in_source ? args.src_displs : args.dst_displs, size, made.offsets);
    made.bytes = 0;
    if (type == collective::alltoallv) {
        call.out_counts = args.src_counts;
        call.out_offsets = offsets_of(args.src_counts, args.src_displs, size, made.out_offsets);
    } else if (!kind.has_root()) {
        call.count = args.dst_counts[rank];
        double all = 0;
        for (rank_t i = 0; i < size; ++i)
            all += static_cast<double>(args.dst_counts[i]);
        made.bytes = all * element / size;
    }
    return made;
}

}  // namespace ucg
