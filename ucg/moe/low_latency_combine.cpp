#include "ucg/moe/low_latency_combine.hpp"

#include <new>

#include "ucg/moe/check.hpp"
#include "ucg/moe/chore.hpp"
#include "ucg/moe/logfmt.hpp"

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
        std::byte* const message = of_.space_.at(to_.out);
        const matrix into = dense_matrix(message, to_.rows_out, first.elements, first.type);
        std::uint32_t row = 0;
        for (std::uint32_t e = 0; e < of_.by_->plan->of->local_experts(); ++e) {
            const const_matrix from = of_.what_.values.of(e);
            const slots::range range = of_.by_->range_of(e, to_.rank);
            for (std::uint32_t i = range.begin; i < range.begin + range.count; ++i, ++row) {
                if (of_.what_.how == rows_go::in_logfmt)
                    logfmt_encode(message + row * of_.sent_bytes_, from, i);
                else
                    copy_row(into, row, from, i);
            }
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
                of_.terms_[count++] = {row_of(token, j, expert),
                                       float_at(of_.what_.weights, token, j)};
            }
            add(of_.what_.into, token, std::span(of_.terms_).first(count));
        }
    }
    void add(const matrix& into, std::uint32_t token,
             std::span<const weighted> from) const noexcept {
        if (of_.what_.how == rows_go::in_logfmt)
            add_weighted_logfmt(into.row(token), from, into.elements);
        else
            add_weighted(into.row(token), from, into.elements, into.type);
    }
    [[nodiscard]] const std::byte* row_of(std::uint32_t token, std::uint32_t j,
                                          expert_t expert) const noexcept {
        const slot_plan& plan = *of_.by_->plan;
        const exchange_with& from = of_.others_[of_.index_of_rank_[plan.of->rank_of(expert)]];
        const std::uint32_t place = plan.place[std::size_t{token} * plan.chosen.k() + j];
        if (from.rank != plan.of->self() || from.packs)
            return of_.space_.at(from.in) + place * of_.sent_bytes_;
        const auto e = static_cast<std::uint32_t>(plan.of->local(expert));
        const std::uint32_t first = of_.by_->range_of(e, from.rank).begin;
        return of_.what_.values.of(e).row(first + (place - of_.own_places_[e]));
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
    if (what_.how == rows_go::in_place) all.dense("x that is sent from where it lies", from);
    if (what_.how == rows_go::in_logfmt) {
        all.of_type("x that is compressed", from, "bf16", {reduce::element::bf16});
        all.multiple("x that is compressed", from, logfmt_group);
    }
    const std::uint32_t experts = by_->plan->of->local_experts();
    all.apart({{"x", occupied(what_.values, experts), false},
               reads("weights", what_.weights),
               writes("output", what_.into)});
    return all.status();
}

// All rows of a source, where one message can take them from there: they are of one expert and
// dense, and go as they are. Else null.
const std::byte* low_latency_combine::lying(rank_t rank) const noexcept {
    if (what_.how == rows_go::in_logfmt) return nullptr;
    const std::byte* found = nullptr;
    for (std::uint32_t e = 0; e < by_->plan->of->local_experts(); ++e) {
        const slots::range range = by_->range_of(e, rank);
        if (range.count == 0) continue;
        if (found != nullptr || !what_.values.first.dense()) return nullptr;
        found = what_.values.of(e).row(range.begin);
    }
    return found;
}

// Whether they can be added up where they are.
bool low_latency_combine::own_rows_lie() const noexcept {
    return what_.how != rows_go::in_logfmt && what_.values.first.dense_rows();
}

// Rows come in the order in which they are sent: of one expert after the other. `lies`: where one
// message takes them from, or null.
void low_latency_combine::list_messages(exchange_with& with, const std::byte* lies) {
    const std::uint32_t experts = by_->plan->of->local_experts();
    const auto place_of = [&](std::size_t rows) { return with.in + rows * sent_bytes_; };
    if (what_.how != rows_go::in_place) {
        if (with.rows_out != 0) going_.push_back({lies, with.rows_out * sent_bytes_});
        if (with.rows_in != 0)
            coming_.push_back({with.rank, place_of(0), with.rows_in * sent_bytes_});
    } else {
        std::size_t row = 0;
        for (std::uint32_t e = 0; e < experts; ++e) {
            const slots::range out = by_->range_of(e, with.rank);
            const std::size_t in = by_->plan->sent.size(std::size_t{with.rank} * experts + e, 0);
            if (out.count != 0)
                going_.push_back({what_.values.of(e).row(out.begin), out.count * sent_bytes_});
            if (in != 0) coming_.push_back({with.rank, place_of(row), in * sent_bytes_});
            row += in;
        }
    }
    with.out_end = going_.size();
}

ucs_status_t low_latency_combine::prepare() {
    if (by_ == nullptr) return UCS_ERR_INVALID_PARAM;
    if (const ucs_status_t status = check(); status != UCS_OK) return status;
    const team& group = *by_->plan->of;
    row_bytes_ = what_.values.first.row_bytes();
    sent_bytes_ = what_.how == rows_go::in_logfmt ? logfmt_row_bytes(what_.values.first.elements)
                                                  : row_bytes_;
    space_ = {};
    others_.clear();
    going_.clear();
    coming_.clear();
    index_of_rank_.assign(group.ranks(), 0);
    terms_.resize(by_->plan->chosen.k());
    own_places_.clear();
    std::uint32_t own_rows = 0;
    for (std::uint32_t e = 0; e < group.local_experts(); ++e) {
        own_places_.push_back(own_rows);
        own_rows += by_->range_of(e, group.self()).count;
    }
    for (rank_t i = 1; i <= group.ranks(); ++i) {
        const rank_t rank = (group.self() + i) % group.ranks();
        if (!group.lives(rank)) continue;
        const bool own = rank == group.self();
        exchange_with one{rank, by_->rows_from(rank), by_->plan->rows_to(rank), false, 0, 0, 0};
        const std::byte* const lies = own ? nullptr : lying(rank);
        one.packs = own ? !own_rows_lie() : what_.how != rows_go::in_place && lies == nullptr;
        one.out = space_.take(one.packs ? one.rows_out * sent_bytes_ : 0);
        one.in = own ? one.out : space_.take(one.rows_in * sent_bytes_);
        if (!own) list_messages(one, lies);
        index_of_rank_[rank] = others_.size();
        others_.push_back(one);
    }
    return space_.allocate();
}

std::uint64_t low_latency_combine::form() const noexcept {
    if (refused_ != UCS_OK) return 0;
    const const_matrix& x = what_.values.first;
    return by_->plan->of->agreed()
        .with(by_->plan->by.most_tokens, x.elements, x.type, what_.how)
        .not_zero();
}

task low_latency_combine::run(member& me) noexcept {
    return run_all(me, *this);
}

task low_latency_combine::run_all(member& me, low_latency_combine& of) {
    co_await require(me, of.refused_);
    flights coming(of.coming_.size());
    flights going(of.going_.size());
    co_await require(me, coming.status());
    co_await require(me, going.status());
    for (std::size_t i = 0; i < of.coming_.size(); ++i) {
        const incoming_rows& one = of.coming_[i];
        coming[i].receive(me, one.rank, of.space_.at(one.into), one.bytes);
    }
    std::size_t summed = 0;
    std::size_t sent = 0;
    for (const exchange_with& to : of.others_) {
        summed += to.rows_in * of.row_bytes_;
        if (to.packs && to.rows_out != 0) {
            const packing work(of, to);
            co_await work.begin(me, to.rows_out * of.row_bytes_);
        }
        for (; sent < to.out_end; ++sent) {
            const outgoing_rows& one = of.going_[sent];
            going[sent].send(me, to.rank, one.lies != nullptr ? one.lies : of.space_.at(to.out),
                             one.bytes);
        }
    }
    for (std::size_t i = 0; i < of.coming_.size(); ++i)
        co_await coming[i];
    const summing work(of);
    // A token without choices becomes 0.
    co_await work.begin(me, summed + of.by_->plan->chosen.tokens() * of.row_bytes_);
    for (std::size_t i = 0; i < of.going_.size(); ++i)
        co_await going[i];
}

}  // namespace ucg::moe
