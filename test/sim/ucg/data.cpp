#include "test/sim/ucg/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "test/sim/ucg/number.hpp"
#include "ucs/sys/random.hpp"

namespace group_sim {

namespace {

constexpr std::byte untouched{0xa5};

std::uint64_t hash(std::uint64_t a, std::uint64_t b) {
    return ucs::sys::mix(a ^ ucs::sys::mix(b));
}

bool has_root_only(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_GATHER || coll == UCG_COLL_GATHERV || coll == UCG_COLL_REDUCE;
}

bool scatters(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_SCATTER || coll == UCG_COLL_SCATTERV;
}

bool gathers(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_GATHER || coll == UCG_COLL_GATHERV;
}

bool gathers_everywhere(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_ALLGATHER || coll == UCG_COLL_ALLGATHERV;
}

bool exchanges(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_ALLTOALL || coll == UCG_COLL_ALLTOALLV;
}

bool scatters_results(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_REDUCE_SCATTER || coll == UCG_COLL_REDUCE_SCATTER_BLOCK;
}

// Arbitrary bytes that one rank sends to another.
std::vector<std::byte> block(const collective_plan& plan, unsigned start, std::uint32_t from,
                             std::uint32_t to, std::uint64_t count) {
    std::vector<std::byte> made(count * plan.element);
    const std::uint64_t name = hash(plan.seed + start, std::uint64_t{from} << 32U | to);
    for (std::size_t i = 0; i < made.size(); i += 8) {
        const std::uint64_t word = ucs::sys::mix(name + i);
        std::memcpy(made.data() + i, &word, std::min<std::size_t>(8, made.size() - i));
    }
    return made;
}

// Composes maps x -> a x + b over 32 bits: associative, and not commutative. If `commutative`, a
// sum.
void combine(const void* in, void* inout, std::uint64_t words, bool commutative) {
    const auto* from = static_cast<const std::byte*>(in);
    auto* into = static_cast<std::byte*>(inout);
    for (std::uint64_t i = 0; i < words; ++i) {
        std::uint64_t first = 0, second = 0;
        std::memcpy(&first, from + 8 * i, 8);
        std::memcpy(&second, into + 8 * i, 8);
        if (commutative) {
            second += first;
        } else {
            const auto a = static_cast<std::uint32_t>(second) * static_cast<std::uint32_t>(first);
            const auto b =
                static_cast<std::uint32_t>(second) * static_cast<std::uint32_t>(first >> 32U) +
                static_cast<std::uint32_t>(second >> 32U);
            second = std::uint64_t{b} << 32U | a;
        }
        std::memcpy(into + 8 * i, &second, 8);
    }
}

void user_function(const void* in, void* inout, std::uint64_t count, void* arg) {
    const auto encoded = reinterpret_cast<std::uintptr_t>(arg);
    combine(in, inout, count * (encoded >> 1U), (encoded & 1U) != 0);
}

std::uint64_t name_of_input(const collective_plan& plan, unsigned start) {
    return hash(plan.seed, start + 1);
}

// The elements that a rank contributes to a reduction.
std::vector<std::byte> input(const collective_plan& plan, unsigned start, std::uint32_t rank,
                             std::uint64_t first, std::uint64_t count) {
    std::vector<std::byte> made(count * plan.element);
    const std::uint64_t name = name_of_input(plan, start);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::byte* const element = made.data() + i * plan.element;
        if (plan.op != UCG_OP_USER) {
            write(plan.type, make_number(plan.type, plan.op, name, rank, first + i), element);
            continue;
        }
        for (std::size_t word = 0; word < plan.element; word += 8) {
            const std::uint64_t value = hash(name + rank, (first + i) * plan.element + word);
            std::memcpy(element + word, &value, 8);
        }
    }
    return made;
}

// The reduction of the first `ranks` ranks.
std::vector<std::byte> reduced(const collective_plan& plan, unsigned start, std::uint32_t ranks,
                               std::uint64_t first, std::uint64_t count) {
    if (plan.op == UCG_OP_USER) {
        std::vector<std::byte> all = input(plan, start, 0, first, count);
        for (std::uint32_t rank = 1; rank < ranks; ++rank) {
            std::vector<std::byte> next = input(plan, start, rank, first, count);
            combine(all.data(), next.data(), next.size() / 8, plan.commutative);
            all = std::move(next);
        }
        return all;
    }
    std::vector<std::byte> made(count * plan.element);
    const std::uint64_t name = name_of_input(plan, start);
    for (std::uint64_t i = 0; i < count; ++i) {
        number sum = make_number(plan.type, plan.op, name, 0, first + i);
        for (std::uint32_t rank = 1; rank < ranks; ++rank)
            sum = combine(plan.op, sum, make_number(plan.type, plan.op, name, rank, first + i));
        if (plan.op == UCG_OP_AVERAGE) {
            sum.real /= ranks;
            sum.imaginary /= ranks;
        }
        write(plan.type, sum, made.data() + i * plan.element);
    }
    return made;
}

}  // namespace

bool reduces(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_REDUCE || coll == UCG_COLL_ALLREDUCE || coll == UCG_COLL_SCAN ||
           coll == UCG_COLL_EXSCAN || scatters_results(coll);
}

bool has_counts(ucg_coll_t coll) noexcept {
    return coll == UCG_COLL_GATHERV || coll == UCG_COLL_SCATTERV || coll == UCG_COLL_ALLGATHERV ||
           coll == UCG_COLL_REDUCE_SCATTER || coll == UCG_COLL_ALLTOALLV;
}

bool is_exact(ucg_type_t type, ucg_op_t op) noexcept {
    if (ucg_op_is_defined(type, op) == 0) return false;
    const bool few_bits = type == UCG_TYPE_FP8_E4M3 || type == UCG_TYPE_FP8_E5M2;
    return !(few_bits && op == UCG_OP_AVERAGE);
}

ucg_user_op_t user_operator(const collective_plan& plan) noexcept {
    ucg_user_op_t made = UCG_USER_OP_INIT;
    made.function = user_function;
    made.arg = reinterpret_cast<void*>(plan.element / 8 << 1U | (plan.commutative ? 1U : 0U));
    made.commutative = plan.commutative ? 1 : 0;
    return made;
}

void memory::buffer::make(std::size_t size) {
    length = size;
    if (size == 0) return;
    bytes.reset(new std::byte[size]);
    std::fill_n(bytes.get(), size, untouched);
}

void memory::buffer::put(std::size_t offset, const std::vector<std::byte>& content) {
    std::ranges::copy(content, bytes.get() + offset);
}

std::vector<std::byte> memory::buffer::copy() const {
    return {bytes.get(), bytes.get() + length};
}

memory::memory(const collective_plan& plan, std::uint32_t ranks, std::uint32_t rank, unsigned start)
    : ranks_(ranks), rank_(rank), element_(plan.element), type_(plan.type), coll_(plan.coll) {
    if (plan.in_place) {
        output_in_src_ = scatters(coll_) && is_root(plan);
        input_in_dst_ = !scatters(coll_) && (!has_root_only(coll_) || is_root(plan));
    }
    place_blocks(plan);
    make_buffers(plan);
    fill(plan, start);
    expect(plan, start);
}

std::uint64_t memory::count_between(const collective_plan& plan, std::uint32_t from,
                                    std::uint32_t to) const {
    if (plan.counts.empty()) return plan.count;
    if (coll_ == UCG_COLL_ALLTOALLV) return plan.counts[from * ranks_ + to];
    return plan.counts[coll_ == UCG_COLL_GATHERV || coll_ == UCG_COLL_ALLGATHERV ? from : to];
}

void memory::place_blocks(const collective_plan& plan) {
    const auto place = [&](std::vector<std::uint64_t>& counts, std::vector<std::uint64_t>& places,
                           std::uint64_t side, const auto& count) {
        for (std::uint32_t i = 0; i < ranks_; ++i)
            counts.push_back(count(i));
        places.resize(ranks_);
        std::vector<std::uint32_t> order(ranks_);
        std::iota(order.begin(), order.end(), 0U);
        has_places_ = plan.places && coll_ != UCG_COLL_REDUCE_SCATTER;
        ucs::sys::random dice(hash(plan.seed, side * 1000 + rank_));
        for (std::size_t i = ranks_; has_places_ && i > 1; --i)
            std::swap(order[i - 1], order[dice.below(i)]);
        std::uint64_t next = 0;
        for (const std::uint32_t i : order) {
            if (has_places_) next += dice.below(3);
            places[i] = next;
            next += counts[i];
        }
    };
    place(src_counts_, src_places_, 1,
          [&](std::uint32_t i) { return count_between(plan, rank_, i); });
    place(dst_counts_, dst_places_, 2, [&](std::uint32_t i) {
        return scatters_results(coll_) ? count_between(plan, 0, i) : count_between(plan, i, rank_);
    });
}

void memory::make_buffers(const collective_plan& plan) {
    const auto extent = [this](const std::vector<std::uint64_t>& counts,
                               const std::vector<std::uint64_t>& places) {
        std::uint64_t end = 0;
        for (std::uint32_t i = 0; i < ranks_; ++i)
            end = std::max(end, places[i] + counts[i]);
        return end;
    };
    const std::uint64_t all_src = extent(src_counts_, src_places_);
    const std::uint64_t all_dst = extent(dst_counts_, dst_places_);
    std::uint64_t src = plan.count, dst = plan.count;
    if (coll_ == UCG_COLL_BARRIER || coll_ == UCG_COLL_BCAST) {
        src = 0;
    } else if (coll_ == UCG_COLL_REDUCE) {
        dst = is_root(plan) ? plan.count : 0;
    } else if (gathers(coll_)) {
        src = count_between(plan, rank_, 0);
        dst = is_root(plan) ? all_dst : 0;
    } else if (gathers_everywhere(coll_)) {
        src = count_between(plan, rank_, 0);
        dst = all_dst;
    } else if (scatters(coll_)) {
        src = is_root(plan) ? all_src : 0;
        dst = count_between(plan, 0, rank_);
    } else if (scatters_results(coll_)) {
        src = all_dst;
        dst = plan.in_place ? all_dst : dst_counts_[rank_];
    } else if (exchanges(coll_)) {
        src = all_src;
        dst = all_dst;
    }
    src_.make(input_in_dst_ ? 0 : src * element_);
    dst_.make(output_in_src_ ? 0 : dst * element_);
}

void memory::fill(const collective_plan& plan, unsigned start) {
    buffer& into = input_in_dst_ ? dst_ : src_;
    if (coll_ == UCG_COLL_BCAST) {
        if (is_root(plan)) dst_.put(0, block(plan, start, rank_, 0, plan.count));
    } else if (reduces(coll_)) {
        const std::uint64_t count =
            scatters_results(coll_)
                ? std::accumulate(dst_counts_.begin(), dst_counts_.end(), std::uint64_t{0})
                : plan.count;
        into.put(0, input(plan, start, rank_, 0, count));
    } else if (gathers(coll_) || gathers_everywhere(coll_)) {
        const std::uint64_t first = input_in_dst_ ? dst_places_[rank_] : 0;
        into.put(first * element_, block(plan, start, rank_, 0, count_between(plan, rank_, 0)));
    } else if (exchanges(coll_) || (scatters(coll_) && is_root(plan))) {
        const auto& places = input_in_dst_ ? dst_places_ : src_places_;
        for (std::uint32_t to = 0; to < ranks_; ++to)
            into.put(places[to] * element_,
                     block(plan, start, rank_, to, count_between(plan, rank_, to)));
    }
    src_before_ = src_.copy();
}

void memory::expect_at(std::size_t element, const std::vector<std::byte>& content) {
    std::ranges::copy(content, expected_.begin() + static_cast<std::ptrdiff_t>(element * element_));
}

void memory::expect(const collective_plan& plan, unsigned start) {
    expected_ = dst_.copy();
    if (dst_.length == 0) return;
    if (coll_ == UCG_COLL_BCAST) {
        expect_at(0, block(plan, start, plan.root, 0, plan.count));
    } else if (coll_ == UCG_COLL_EXSCAN && rank_ == 0) {
        undefined_.assign(plan.count, true);
    } else if (scatters_results(coll_)) {
        const std::uint64_t first =
            std::accumulate(dst_counts_.begin(), dst_counts_.begin() + rank_, std::uint64_t{0});
        expect_at(0, reduced(plan, start, ranks_, first, dst_counts_[rank_]));
        undefined_.assign(dst_.length / element_, true);
        std::fill_n(undefined_.begin(), dst_counts_[rank_], false);
    } else if (reduces(coll_)) {
        const std::uint32_t operands = coll_ == UCG_COLL_SCAN     ? rank_ + 1
                                       : coll_ == UCG_COLL_EXSCAN ? rank_
                                                                  : ranks_;
        expect_at(0, reduced(plan, start, operands, 0, plan.count));
    } else if (scatters(coll_)) {
        expect_at(0, block(plan, start, plan.root, rank_, count_between(plan, plan.root, rank_)));
    } else if (coll_ != UCG_COLL_BARRIER) {
        const std::uint32_t to = exchanges(coll_) ? rank_ : 0;
        for (std::uint32_t from = 0; from < ranks_; ++from)
            expect_at(dst_places_[from],
                      block(plan, start, from, to, count_between(plan, from, rank_)));
    }
}

void memory::describe(ucg_coll_args_t& args) const {
    args.src = src();
    args.dst = dst();
    if (coll_ == UCG_COLL_GATHERV)
        args.count = src_counts_[0];
    else if (coll_ == UCG_COLL_SCATTERV)
        args.count = dst_counts_[0];
    const bool from = coll_ == UCG_COLL_SCATTERV || (coll_ == UCG_COLL_ALLTOALLV && !input_in_dst_);
    const bool into = coll_ == UCG_COLL_GATHERV || coll_ == UCG_COLL_ALLGATHERV ||
                      coll_ == UCG_COLL_REDUCE_SCATTER || coll_ == UCG_COLL_ALLTOALLV;
    if (from) args.src_counts = src_counts_.data();
    if (from && has_places_) args.src_displs = src_places_.data();
    if (into) args.dst_counts = dst_counts_.data();
    if (into && has_places_) args.dst_displs = dst_places_.data();
}

void memory::fill_from(const memory& other) {
    std::copy_n(other.src_.bytes.get(), src_.length, src_.bytes.get());
    std::copy_n(other.dst_.bytes.get(), dst_.length, dst_.bytes.get());
    src_before_ = other.src_before_;
    expected_ = other.expected_;
}

std::string memory::wrong() const {
    for (std::size_t i = 0; i < src_.length; ++i)
        if (src_.bytes[i] != src_before_[i]) return fmt::format("src was changed at byte {}", i);
    for (std::size_t i = 0; i < dst_.length; ++i) {
        const std::size_t element = i / element_;
        if (dst_.bytes[i] == expected_[i]) continue;
        if (!undefined_.empty() && undefined_[element]) continue;
        if (reduces(coll_) && is_padding(type_, i % element_)) continue;
        return fmt::format("byte {} of element {} of {} in dst is {:#x}, not {:#x}", i % element_,
                           element, dst_.length / element_, std::to_integer<int>(dst_.bytes[i]),
                           std::to_integer<int>(expected_[i]));
    }
    return {};
}

}  // namespace group_sim
