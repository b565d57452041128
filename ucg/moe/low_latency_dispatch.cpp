#include "ucg/moe/low_latency_dispatch.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "ucg/moe/check.hpp"
#include "ucg/moe/chore.hpp"
#include "ucg/moe/copying.hpp"
#include "ucg/moe/header.hpp"
#include "ucg/moe/log.hpp"

namespace ucg::moe {

using schedule::flights;
using schedule::member;
using schedule::require;
using schedule::task;

// The part of a message that says which tokens its rows are.
constexpr std::size_t tokens_part = weights;

class low_latency_dispatch::casting final : public chore {
public:
    explicit casting(const low_latency_dispatch& of) noexcept : of_(of) {}

private:
    void work() const noexcept override {
        for (std::uint32_t token = 0; token < of_.plan_->chosen.tokens(); ++token)
            cast_row(of_.cast_values(), of_.cast_scales(), token, of_.what_.x, token, of_.by_.how);
    }
    const low_latency_dispatch& of_;
};

// Rows for one rank, expert by expert.
class low_latency_dispatch::packing final : public chore {
public:
    packing(const low_latency_dispatch& of, const exchange_with& to) noexcept : of_(of), to_(to) {}

private:
    void work() const noexcept override {
        const slot_plan& plan = *of_.plan_;
        const parts into = of_.rows_at(of_.space_.at(to_.out), to_.rows_out);
        const const_matrix from = of_.by_.cast ? const_matrix(of_.cast_values()) : of_.what_.x;
        std::uint32_t row = 0;
        for (std::uint32_t e = 0; e < plan.of->local_experts(); ++e) {
            for (const std::uint32_t token :
                 plan.sent.of(std::size_t{to_.rank} * plan.of->local_experts() + e, 0)) {
                put_integer(into[tokens_part], row, 0, static_cast<std::int32_t>(token));
                copy_row(into[values], row, from, token);
                if (of_.by_.cast) copy_row(into[scales], row, of_.cast_scales(), token);
                ++row;
            }
        }
    }
    const low_latency_dispatch& of_;
    const exchange_with& to_;
};

class low_latency_dispatch::unpacking final : public chore {
public:
    unpacking(const low_latency_dispatch& of, const exchange_with& from,
              const const_parts& rows) noexcept
        : of_(of), from_(from), rows_(rows) {}

private:
    void work() const noexcept override {
        std::uint32_t row = 0;
        for (std::uint32_t e = 0; e < of_.plan_->of->local_experts(); ++e) {
            const slots::range range = of_.coming_->range_of(e, from_.rank);
            const matrix into = of_.what_.values.of(e);
            for (std::uint32_t at = range.begin; at < range.begin + range.count; ++at, ++row) {
                copy_row(into, at, rows_[values], row);
                if (of_.by_.cast) copy_row(of_.what_.scales.of(e), at, rows_[scales], row);
                if (of_.what_.tokens_of.elements == 0) continue;
                put_integer(of_.what_.tokens_of, e, at,
                            static_cast<std::int32_t>(integer_at(rows_[tokens_part], row, 0)));
            }
        }
    }
    const low_latency_dispatch& of_;
    const exchange_with& from_;
    const_parts rows_;
};

ucs_status_t low_latency_dispatch::init(std::shared_ptr<const team> of, const slot_settings& by,
                                        const const_matrix& topk,
                                        const low_latency_tensors& what) noexcept {
    by_ = by;
    what_ = what;
    made_.reset();
    try {
        refused_ = prepare(std::move(of), topk);
    } catch (const std::bad_alloc&) {
        refused_ = UCS_ERR_NO_MEMORY;
    }
    return refused_;
}

ucs_status_t low_latency_dispatch::check(const choices& chosen) const noexcept {
    const std::uint32_t hidden = what_.x.elements;
    const std::uint64_t capacity = plan_->capacity();
    checking all("low-latency dispatch");
    all.shape("x", what_.x, chosen.tokens(), hidden);
    all.of_type("x", what_.x, "bf16, fp16 or fp32",
                {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32});
    all.stacked("output", what_.values, capacity, hidden);
    if (what_.tokens_of.elements != 0) {
        all.of_type("tokens of the output", what_.tokens_of, "int32 or int64",
                    {reduce::element::int32, reduce::element::int64});
        all.shape("tokens of the output", what_.tokens_of, plan_->of->local_experts(),
                  static_cast<std::uint32_t>(capacity));
    }
    const std::uint32_t experts = plan_->of->local_experts();
    const used output{"output", occupied(what_.values, experts), true};
    if (!by_.cast) {
        all.of_type("output", what_.values.first, "the type of x", {what_.x.type});
        all.apart({reads("x", what_.x), output, writes("tokens of the output", what_.tokens_of)});
        return all.status();
    }
    all.dense_rows("x that is cast", what_.x);
    all.multiple("x that is cast", what_.x, scaled_group);
    all.of_type("output", what_.values.first, "fp8_e4m3", {reduce::element::fp8_e4m3});
    all.of_type("scales of the output", what_.scales.first, "what was agreed on",
                {scale_type(by_.how)});
    all.stacked("scales of the output", what_.scales, capacity, hidden / scaled_group);
    all.apart({reads("x", what_.x),
               output,
               {"scales of the output", occupied(what_.scales, experts), true},
               writes("tokens of the output", what_.tokens_of)});
    return all.status();
}

std::size_t low_latency_dispatch::header_length() const noexcept {
    return header_bytes(plan_->of->local_experts());
}

ucs_status_t low_latency_dispatch::prepare(std::shared_ptr<const team> of,
                                           const const_matrix& topk) {
    if (of == nullptr || by_.most_tokens == 0 ||
        std::uint64_t{by_.most_tokens} * of->ranks() > INT32_MAX) {
        ucs::log::error(moe_log, "{} tokens of a rank cannot be: give 1 to {} in all",
                        by_.most_tokens, INT32_MAX);
        return UCS_ERR_INVALID_PARAM;
    }
    ucs::result<choices> chosen = choices::make(*of, topk);
    if (!chosen) return chosen.status();
    auto plan = std::make_shared<slot_plan>();
    plan->of = std::move(of);
    plan->by = by_;
    plan->chosen = *std::move(chosen);
    const team& group = *plan->of;
    if (const ucs_status_t status = plan->make(); status != UCS_OK) return status;
    plan_ = plan;
    if (const ucs_status_t status = check(plan->chosen); status != UCS_OK) return status;

    agreed_ = group.agreed()
                  .with(by_.most_tokens, by_.cast, what_.x.elements, by_.how, what_.x.type)
                  .value();
    const_parts like;
    like[tokens_part].elements = 1;
    like[tokens_part].type = reduce::element::int32;
    like[values].elements = what_.x.elements;
    like[values].type = what_.values.first.type;
    if (by_.cast) {
        like[scales].elements = what_.x.elements / scaled_group;
        like[scales].type = scale_type(by_.how);
    }
    form_ = record(like);
    space_ = {};
    others_.clear();
    if (by_.cast) {
        cast_values_ = space_.take(plan->chosen.tokens() * form_.part_bytes(values));
        cast_scales_ = space_.take(plan->chosen.tokens() * form_.part_bytes(scales));
    }
    for (rank_t i = 1; i <= group.ranks(); ++i) {
        const rank_t rank = (group.self() + i) % group.ranks();
        if (!group.lives(rank)) continue;
        const std::uint32_t count = plan->rows_to(rank);
        others_.push_back({rank, count, 0, 0, space_.take(header_length()),
                           space_.take(header_length()), space_.take(count * form_.row_bytes()),
                           0});
    }
    if (const ucs_status_t status = space_.allocate(); status != UCS_OK) return status;
    for (const exchange_with& each : others_)
        put_header(each);
    // One for those who look at the last start, one for the next.
    results_ = {std::make_shared<slots>(plan_), std::make_shared<slots>(plan_)};
    return UCS_OK;
}

matrix low_latency_dispatch::cast_values() const noexcept {
    return dense_matrix(space_.at(cast_values_), plan_->chosen.tokens(), what_.x.elements,
                        reduce::element::fp8_e4m3);
}

matrix low_latency_dispatch::cast_scales() const noexcept {
    return dense_matrix(space_.at(cast_scales_), plan_->chosen.tokens(),
                        what_.x.elements / scaled_group, scale_type(by_.how));
}

parts low_latency_dispatch::rows_at(std::byte* message, std::uint32_t count) const noexcept {
    return form_.view(message, count);
}

void low_latency_dispatch::put_header(const exchange_with& to) const noexcept {
    const team& of = *plan_->of;
    std::byte* const at = space_.at(to.header_out);
    const route_header head{route_header::version, of.self(), agreed_, plan_->chosen.tokens(), 0};
    std::memcpy(at, &head, sizeof head);
    for (std::uint32_t e = 0; e < of.local_experts(); ++e) {
        const std::uint32_t count =
            plan_->sent.size(std::size_t{to.rank} * of.local_experts() + e, 0);
        std::memcpy(at + sizeof head + e * sizeof count, &count, sizeof count);
    }
}

ucs_status_t low_latency_dispatch::take_header(exchange_with& from) noexcept {
    const std::byte* const at =
        space_.at(from.rank == plan_->of->self() ? from.header_out : from.header_in);
    route_header head;
    std::memcpy(&head, at, sizeof head);
    if (const ucs_status_t status = moe::check(head, from.rank, agreed_); status != UCS_OK)
        return status;
    from.tokens_there = head.tokens;
    from.rows_in = 0;
    for (std::uint32_t e = 0; e < plan_->of->local_experts(); ++e) {
        std::uint32_t count;
        std::memcpy(&count, at + sizeof head + e * sizeof count, sizeof count);
        if (count > by_.most_tokens || from.rows_in + count > INT32_MAX) {
            ucs::log::error(moe_log, "rank {} sends {} rows for expert {}: at most {} can come",
                            from.rank, count, e, by_.most_tokens);
            return UCS_ERR_IO_ERROR;
        }
        coming_->ranges[std::size_t{e} * plan_->of->ranks() + from.rank].count = count;
        from.rows_in += count;
    }
    return UCS_OK;
}

// A place for what this start finds out that nobody looks at any more.
ucs_status_t low_latency_dispatch::begin() noexcept try {
    made_.reset();
    coming_.reset();
    const auto free = std::ranges::find_if(
        results_, [](const std::shared_ptr<slots>& each) { return each.use_count() == 1; });
    coming_ =
        free != results_.end() ? *free : results_.emplace_back(std::make_shared<slots>(plan_));
    std::ranges::fill(coming_->counts, 0U);
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

// All counts are there: where each source's rows go, and memory for them.
ucs_status_t low_latency_dispatch::find_ranges() noexcept {
    const team& of = *plan_->of;
    for (std::uint32_t e = 0; e < of.local_experts(); ++e) {
        for (rank_t rank = 0; rank < of.ranks(); ++rank) {
            slots::range& range = coming_->ranges[std::size_t{e} * of.ranks() + rank];
            range.begin = coming_->counts[e];
            coming_->counts[e] += range.count;
        }
    }
    std::size_t all = 0;
    for (exchange_with& each : others_) {
        each.in = all;
        if (each.rank == of.self()) continue;
        all += (each.rows_in * form_.row_bytes() + 15) / 16 * 16;
    }
    if (all <= received_size_) return UCS_OK;
    received_.reset(new (std::nothrow) std::byte[all]);
    received_size_ = received_ == nullptr ? 0 : all;
    return received_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
}

// The caller may use them as places.
ucs_status_t low_latency_dispatch::check_tokens(const exchange_with& from,
                                                const const_parts& rows) const noexcept {
    const std::int64_t end = std::min(from.tokens_there, by_.most_tokens);
    for (std::uint32_t row = 0; row < from.rows_in; ++row) {
        const std::int64_t token = integer_at(rows[tokens_part], row, 0);
        if (token >= 0 && token < end) continue;
        ucs::log::error(
            moe_log,
            "rank {} sends a row of token {}, and has {}: look whether all ranks run the "
            "same version of the library",
            from.rank, token, end);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

std::uint64_t low_latency_dispatch::form() const noexcept {
    return refused_ != UCS_OK ? 0 : form_hash().with(agreed_).not_zero();
}

task low_latency_dispatch::run(member& me) noexcept {
    return run_all(me, *this);
}

task low_latency_dispatch::run_all(member& me, low_latency_dispatch& of) {
    co_await require(me, of.refused_);
    co_await require(me, of.begin());
    std::vector<exchange_with>& all = of.others_;
    const std::size_t peers = all.size() - 1;  // this rank is the last
    flights headers(peers);
    flights coming(peers);
    flights going(2 * peers);
    co_await require(me, headers.status());
    co_await require(me, coming.status());
    co_await require(me, going.status());
    for (std::size_t i = 0; i < peers; ++i)
        headers[i].receive(me, all[i].rank, of.space_.at(all[i].header_in), of.header_length());
    for (std::size_t i = 0; i < peers; ++i)
        going[2 * i].send(me, all[i].rank, of.space_.at(all[i].header_out), of.header_length());
    if (of.by_.cast) {
        const casting work(of);
        co_await work.begin(me, of.plan_->chosen.tokens() * of.what_.x.row_bytes());
    }
    for (std::size_t i = 0; i <= peers; ++i) {
        const std::size_t bytes = all[i].rows_out * of.form_.row_bytes();
        if (bytes == 0) continue;
        const packing work(of, all[i]);
        co_await work.begin(me, bytes);
        if (i != peers) going[2 * i + 1].send(me, all[i].rank, of.space_.at(all[i].out), bytes);
    }
    for (std::size_t i = 0; i <= peers; ++i) {
        if (i != peers) co_await headers[i];
        co_await require(me, of.take_header(all[i]));
    }
    co_await require(me, of.find_ranges());
    for (std::size_t i = 0; i < peers; ++i) {
        const std::size_t bytes = all[i].rows_in * of.form_.row_bytes();
        if (bytes != 0) coming[i].receive(me, all[i].rank, of.received_.get() + all[i].in, bytes);
    }
    for (std::size_t i = 0; i <= peers; ++i) {
        const exchange_with& from = all[peers - i];
        const bool own = i == 0;
        if (!own) co_await coming[peers - i];
        std::byte* const message = own ? of.space_.at(from.out) : of.received_.get() + from.in;
        if (from.rows_in == 0) continue;
        const const_parts rows = constant(of.rows_at(message, from.rows_in));
        co_await require(me, of.check_tokens(from, rows));
        const unpacking work(of, from, rows);
        co_await work.begin(me, from.rows_in * of.form_.row_bytes());
    }
    for (std::size_t i = 0; i < 2 * peers; ++i)
        co_await going[i];
    of.made_ = std::exchange(of.coming_, nullptr);
}

}  // namespace ucg::moe
