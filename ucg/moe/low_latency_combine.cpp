#include "ucg/moe/low_latency_combine.hpp"

#include <new>

#include "ucg/moe/check.hpp"
#include "ucg/moe/chore.hpp"

namespace ucg::moe {

using schedule::flights;
using schedule::member;
using schedule::require;
using schedule::task;

// Rows for one source, expert by expert.
class low_latency_combine::packing final : public chore {
public:
    packing(const low_latency_combine& of, const exchange_with& to) noexcept : of_(of), to_(to) {}

private:
    void work() const noexcept override {
        const const_matrix first = of_.what_.values.first;
        const matrix into =
            dense_matrix(of_.space_.at(to_.out), to_.rows_out, first.elements, first.type);
        std::uint32_t row = 0;
        for (std::uint32_t e = 0; e < of_.by_->plan->of->local_experts(); ++e) {
            const slots::range range = of_.by_->range_of(e, to_.rank);
            for (std::uint32_t i = 0; i < range.count; ++i)
                copy_row(into, row++, of_.what_.values.of(e), range.begin + i);
        }
    }
    const low_latency_combine& of_;
    const exchange_with& to_;
};

class low_latency_combine::summing final : public chore {
public:
    explicit summing(low_latency_combine& of) noexcept : of_(of) {}

private:
    void work() const noexcept override {
        const choices& chosen = of_.by_->plan->chosen;
        for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
            std::size_t count = 0;
            for (std::uint32_t j = 0; j < chosen.k(); ++j) {
                const expert_t expert = chosen.of(token)[j];
                if (expert == choices::none) continue;
                of_.terms_[count++] = {row_of(token, j, of_.by_->plan->of->rank_of(expert)),
                                       float_at(of_.what_.weights, token, j)};
            }
            add_weighted(of_.what_.into.row(token), std::span(of_.terms_).first(count),
                         of_.what_.into.elements, of_.what_.into.type);
        }
    }
    [[nodiscard]] const std::byte* row_of(std::uint32_t token, std::uint32_t j,
                                          rank_t holder) const noexcept {
        const exchange_with& from = of_.others_[of_.index_of_rank_[holder]];
        const std::size_t place =
            of_.by_->plan->place[std::size_t{token} * of_.by_->plan->chosen.k() + j];
        const std::byte* const base = from.lies != nullptr && holder == of_.by_->plan->of->self()
                                          ? from.lies
                                          : of_.space_.at(from.in);
        return base + place * of_.row_bytes_;
    }
    low_latency_combine& of_;
};

ucs_status_t low_latency_combine::init(std::shared_ptr<const slots> by,
                                       const low_latency_sums& what) noexcept {
    by_ = std::move(by);
    what_ = what;
    try {
        refused_ = prepare();
    } catch (const std::bad_alloc&) {
        refused_ = UCS_ERR_NO_MEMORY;
    }
    return refused_;
}

ucs_status_t low_latency_combine::check() const noexcept {
    const choices& chosen = by_->plan->chosen;
    const const_matrix& from = what_.values.first;
    checking all("low-latency combine");
    all.stacked("x", what_.values, by_->plan->capacity(), from.elements);
    all.of_type("x", from, "bf16, fp16 or fp32",
                {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32});
    all.alike("output", what_.into, from, chosen.tokens());
    all.dense_rows("output", what_.into);
    all.shape("weights", what_.weights, chosen.tokens(), chosen.k());
    all.of_type("weights", what_.weights, "fp32", {reduce::element::fp32});
    const std::uint32_t experts = by_->plan->of->local_experts();
    all.apart({{"x", occupied(what_.values, experts), false},
               reads("weights", what_.weights),
               writes("output", what_.into)});
    return all.status();
}

// All rows of a source, where they are of one expert and dense; else null.
const std::byte* low_latency_combine::lying(rank_t rank) const noexcept {
    const std::byte* found = nullptr;
    for (std::uint32_t e = 0; e < by_->plan->of->local_experts(); ++e) {
        const slots::range range = by_->range_of(e, rank);
        if (range.count == 0) continue;
        if (found != nullptr || !what_.values.first.dense()) return nullptr;
        found = what_.values.of(e).row(range.begin);
    }
    return found;
}

ucs_status_t low_latency_combine::prepare() {
    if (by_ == nullptr) return UCS_ERR_INVALID_PARAM;
    if (const ucs_status_t status = check(); status != UCS_OK) return status;
    const team& group = *by_->plan->of;
    row_bytes_ = what_.values.first.row_bytes();
    space_ = {};
    others_.clear();
    index_of_rank_.assign(group.ranks(), 0);
    terms_.resize(by_->plan->chosen.k());
    for (rank_t i = 1; i <= group.ranks(); ++i) {
        const rank_t rank = (group.self() + i) % group.ranks();
        if (!group.lives(rank)) continue;
        const bool own = rank == group.self();
        exchange_with one{rank, by_->rows_from(rank), by_->plan->rows_to(rank), lying(rank), 0, 0};
        one.out = space_.take(one.lies != nullptr ? 0 : one.rows_out * row_bytes_);
        one.in = own ? one.out : space_.take(one.rows_in * row_bytes_);
        index_of_rank_[rank] = others_.size();
        others_.push_back(one);
    }
    return space_.allocate();
}

std::uint64_t low_latency_combine::form() const noexcept {
    if (refused_ != UCS_OK) return 0;
    const const_matrix& x = what_.values.first;
    return by_->plan->of->agreed().with(by_->plan->by.most_tokens, x.elements, x.type).not_zero();
}

task low_latency_combine::run(member& me) noexcept {
    return run_all(me, *this);
}

task low_latency_combine::run_all(member& me, low_latency_combine& of) {
    co_await require(me, of.refused_);
    const std::vector<exchange_with>& all = of.others_;
    const std::size_t peers = all.size() - 1;  // this rank is the last
    flights coming(peers);
    flights going(peers);
    co_await require(me, coming.status());
    co_await require(me, going.status());
    for (std::size_t i = 0; i < peers; ++i)
        if (all[i].rows_in != 0)
            coming[i].receive(me, all[i].rank, of.space_.at(all[i].in),
                              all[i].rows_in * of.row_bytes_);
    std::size_t summed = 0;
    for (std::size_t i = 0; i <= peers; ++i) {
        const std::size_t bytes = all[i].rows_out * of.row_bytes_;
        summed += all[i].rows_in * of.row_bytes_;
        if (bytes == 0) continue;
        if (all[i].lies == nullptr) {
            const packing work(of, all[i]);
            co_await work.begin(me, bytes);
        }
        if (i != peers)
            going[i].send(me, all[i].rank,
                          all[i].lies != nullptr ? all[i].lies : of.space_.at(all[i].out), bytes);
    }
    for (std::size_t i = 0; i < peers; ++i)
        co_await coming[i];
    const summing work(of);
    // A token without choices becomes 0.
    co_await work.begin(me, summed + of.by_->plan->chosen.tokens() * of.row_bytes_);
    for (std::size_t i = 0; i < peers; ++i)
        co_await going[i];
}

}  // namespace ucg::moe
