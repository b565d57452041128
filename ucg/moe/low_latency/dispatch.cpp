#include "ucg/moe/low_latency/dispatch.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "ucg/moe/check.hpp"
#include "ucg/moe/normal/copy_work.hpp"
#include "ucg/moe/wire.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::moe {

// The part of a message that holds the token numbers of its rows.
constexpr std::size_t tokens_part = weights;

void low_latency_dispatch::cast_rows() const noexcept {
    for (std::uint32_t token = 0; token < plan_->chosen.tokens(); ++token)
        cast_row(cast_values(), cast_scales(), token, tensors_.x, token, options_.scale_format);
}

// Copies the rows for one rank into a message, expert by expert.
void low_latency_dispatch::pack(const peer_exchange& to) const noexcept {
    const slot_plan& plan = *plan_;
    const parts into = form_.view(space_.at(to.out), to.rows_out);
    const const_matrix from = options_.cast ? const_matrix(cast_values()) : tensors_.x;
    std::uint32_t row = 0;
    for (std::uint32_t e = 0; e < plan.group->local_experts(); ++e) {
        for (const std::uint32_t token :
             plan.sent.list(std::size_t{to.rank} * plan.group->local_experts() + e, 0)) {
            put_integer(into[tokens_part], row, 0, static_cast<std::int32_t>(token));
            copy_row(into[values], row, from, token);
            if (options_.cast) copy_row(into[scales], row, cast_scales(), token);
            ++row;
        }
    }
}

void low_latency_dispatch::unpack(const peer_exchange& from,
                                  const const_parts& rows) const noexcept {
    std::uint32_t row = 0;
    for (std::uint32_t e = 0; e < plan_->group->local_experts(); ++e) {
        const slots::range range = pending_->range_of(e, from.rank);
        const matrix into = tensors_.values.of_expert(e);
        for (std::uint32_t position = range.begin; position < range.begin + range.count;
             ++position, ++row) {
            copy_row(into, position, rows[values], row);
            if (options_.cast) copy_row(tensors_.scales.of_expert(e), position, rows[scales], row);
            if (tensors_.token_numbers.elements == 0) continue;
            put_integer(tensors_.token_numbers, e, position,
                        static_cast<std::int32_t>(integer_at(rows[tokens_part], row, 0)));
        }
    }
}

ucs_status_t low_latency_dispatch::init(std::shared_ptr<const team> group,
                                        const slot_settings& options, const const_matrix& topk,
                                        const low_latency_dispatch_tensors& tensors) noexcept {
    options_ = options;
    tensors_ = tensors;
    result_.reset();
    init_status_ = ucs::boundary(moe_log, "low-latency dispatch",
                                 [&] { return prepare(std::move(group), topk); });
    return init_status_;
}

ucs_status_t low_latency_dispatch::check(const choices& chosen) const noexcept {
    const std::uint32_t hidden = tensors_.x.elements;
    const std::uint64_t capacity = plan_->capacity();
    argument_checks checks("low-latency dispatch");
    checks.check_shape("x", tensors_.x, chosen.tokens(), hidden);
    checks.check_type("x", tensors_.x, "bf16, fp16 or fp32",
                      {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32});
    checks.check_stack("output", tensors_.values, capacity, hidden);
    if (tensors_.token_numbers.elements != 0) {
        checks.check_type("tokens of the output", tensors_.token_numbers, "int32 or int64",
                          {reduce::element::int32, reduce::element::int64});
        checks.check_shape("tokens of the output", tensors_.token_numbers,
                           plan_->group->local_experts(), static_cast<std::uint32_t>(capacity));
    }
    const std::uint32_t experts = plan_->group->local_experts();
    const tensor_use output{"output", footprint(tensors_.values, experts), true};
    if (!options_.cast) {
        checks.check_type("output", tensors_.values.first, "the type of x", {tensors_.x.type});
        checks.check_overlap({read_access("x", tensors_.x), output,
                              write_access("tokens of the output", tensors_.token_numbers)});
        return checks.status();
    }
    checks.check_dense_rows("x that is cast", tensors_.x);
    checks.check_multiple("x that is cast", tensors_.x, scaled_group);
    checks.check_type("output", tensors_.values.first, "fp8_e4m3", {reduce::element::fp8_e4m3});
    checks.check_type("scales of the output", tensors_.scales.first, "what was agreed on",
                      {scale_type(options_.scale_format)});
    checks.check_stack("scales of the output", tensors_.scales, capacity, hidden / scaled_group);
    checks.check_overlap({read_access("x", tensors_.x),
                          output,
                          {"scales of the output", footprint(tensors_.scales, experts), true},
                          write_access("tokens of the output", tensors_.token_numbers)});
    return checks.status();
}

std::size_t low_latency_dispatch::header_length() const noexcept {
    return header_bytes(plan_->group->local_experts());
}

ucs_status_t low_latency_dispatch::prepare(std::shared_ptr<const team> shared_team,
                                           const const_matrix& topk) {
    if (shared_team == nullptr || options_.max_tokens == 0 ||
        std::uint64_t{options_.max_tokens} * shared_team->ranks() > INT32_MAX) {
        ucs::log::error(moe_log,
                        "low-latency dispatch: {} is no valid maximum of tokens for each "
                        "rank: give 1 to {} divided by the number of ranks",
                        options_.max_tokens, INT32_MAX);
        return UCS_ERR_INVALID_PARAM;
    }
    ucs::result<choices> chosen = choices::make(*shared_team, topk);
    if (!chosen) return chosen.status();
    auto plan = std::make_shared<slot_plan>();
    plan->group = std::move(shared_team);
    plan->options = options_;
    plan->chosen = *std::move(chosen);
    const team& group = *plan->group;
    if (const ucs_status_t status = plan->make(); status != UCS_OK) return status;
    plan_ = plan;
    if (const ucs_status_t status = check(plan->chosen); status != UCS_OK) return status;

    agreed_ = group.agreed()
                  .with(options_.max_tokens, options_.cast, tensors_.x.elements,
                        options_.scale_format, tensors_.x.type)
                  .value();
    const_parts like;
    like[tokens_part].elements = 1;
    like[tokens_part].type = reduce::element::int32;
    like[values].elements = tensors_.x.elements;
    like[values].type = tensors_.values.first.type;
    if (options_.cast) {
        like[scales].elements = tensors_.x.elements / scaled_group;
        like[scales].type = scale_type(options_.scale_format);
    }
    form_ = record(like);
    space_ = {};
    others_.clear();
    if (options_.cast) {
        cast_values_ = space_.take(plan->chosen.tokens() * form_.part_bytes(values));
        cast_scales_ = space_.take(plan->chosen.tokens() * form_.part_bytes(scales));
    }
    for (rank_t i = 1; i <= group.ranks(); ++i) {
        const rank_t rank = (group.self() + i) % group.ranks();
        if (!group.is_alive(rank)) continue;
        const std::uint32_t count = plan->rows_to(rank);
        others_.push_back({rank, count, 0, 0, space_.take(header_length()),
                           space_.take(header_length()), space_.take(count * form_.row_bytes()),
                           0});
    }
    if (const ucs_status_t status = space_.allocate(); status != UCS_OK) return status;
    for (const peer_exchange& each : others_)
        put_header(each);
    // One object for callers that still hold the result of the last start, one for the next start.
    results_ = {std::make_shared<slots>(plan_), std::make_shared<slots>(plan_)};
    return UCS_OK;
}

matrix low_latency_dispatch::cast_values() const noexcept {
    return dense_matrix(space_.at(cast_values_), plan_->chosen.tokens(), tensors_.x.elements,
                        reduce::element::fp8_e4m3);
}

matrix low_latency_dispatch::cast_scales() const noexcept {
    return dense_matrix(space_.at(cast_scales_), plan_->chosen.tokens(),
                        tensors_.x.elements / scaled_group, scale_type(options_.scale_format));
}

void low_latency_dispatch::put_header(const peer_exchange& to) const noexcept {
    const team& group = *plan_->group;
    std::byte* const message = space_.at(to.header_out);
    const route_header header{route_header::version, group.self(), agreed_, plan_->chosen.tokens(),
                              0};
    std::memcpy(message, &header, sizeof header);
    for (std::uint32_t e = 0; e < group.local_experts(); ++e) {
        const std::uint32_t count =
            plan_->sent.size(std::size_t{to.rank} * group.local_experts() + e, 0);
        std::memcpy(message + sizeof header + e * sizeof count, &count, sizeof count);
    }
}

ucs_status_t low_latency_dispatch::take_header(peer_exchange& from) noexcept {
    const std::byte* const message =
        space_.at(from.rank == plan_->group->self() ? from.header_out : from.header_in);
    route_header header;
    std::memcpy(&header, message, sizeof header);
    if (const ucs_status_t status = moe::check(header, from.rank, agreed_); status != UCS_OK)
        return status;
    from.peer_tokens = header.tokens;
    from.rows_in = 0;
    for (std::uint32_t e = 0; e < plan_->group->local_experts(); ++e) {
        std::uint32_t count;
        std::memcpy(&count, message + sizeof header + e * sizeof count, sizeof count);
        if (count > options_.max_tokens || from.rows_in + count > INT32_MAX) {
            ucs::log::error(moe_log, "rank {} sends {} rows for expert {}: the maximum is {}",
                            from.rank, count, e, options_.max_tokens);
            return UCS_ERR_IO_ERROR;
        }
        pending_->ranges[std::size_t{e} * plan_->group->ranks() + from.rank].count = count;
        from.rows_in += count;
    }
    return UCS_OK;
}

// Takes a result object for this start: one that no caller holds any more, or a new one.
ucs_status_t low_latency_dispatch::begin() noexcept try {
    result_.reset();
    pending_.reset();
    const auto free = std::ranges::find_if(
        results_, [](const std::shared_ptr<slots>& each) { return each.use_count() == 1; });
    pending_ =
        free != results_.end() ? *free : results_.emplace_back(std::make_shared<slots>(plan_));
    std::ranges::fill(pending_->counts, 0U);
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

// Runs when all counts have arrived. Computes the rows of each source in the output and allocates
// the receive buffers.
ucs_status_t low_latency_dispatch::find_ranges() noexcept {
    const team& group = *plan_->group;
    for (std::uint32_t e = 0; e < group.local_experts(); ++e) {
        for (rank_t rank = 0; rank < group.ranks(); ++rank) {
            slots::range& range = pending_->ranges[std::size_t{e} * group.ranks() + rank];
            range.begin = pending_->counts[e];
            pending_->counts[e] += range.count;
        }
    }
    std::size_t all = 0;
    for (peer_exchange& each : others_) {
        each.in = all;
        if (each.rank == group.self()) continue;
        all += (each.rows_in * form_.row_bytes() + 15) / 16 * 16;
    }
    if (all <= received_size_) return UCS_OK;
    received_.reset(new (std::nothrow) std::byte[all]);
    received_size_ = received_ == nullptr ? 0 : all;
    return received_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
}

// Checks the token numbers, because the program may use them as indices.
ucs_status_t low_latency_dispatch::check_tokens(const peer_exchange& from,
                                                const const_parts& rows) const noexcept {
    const std::int64_t end = std::min(from.peer_tokens, options_.max_tokens);
    for (std::uint32_t row = 0; row < from.rows_in; ++row) {
        const std::int64_t token = integer_at(rows[tokens_part], row, 0);
        if (token >= 0 && token < end) continue;
        ucs::log::error(
            moe_log,
            "rank {} sends a row of token {}, but it has {} tokens: check that all ranks run "
            "the same version of the library",
            from.rank, token, end);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

std::uint64_t low_latency_dispatch::form() const noexcept {
    return init_status_ != UCS_OK ? 0 : form_hash().with(agreed_).not_zero();
}

task low_latency_dispatch::run(member& me) noexcept {
    co_await require(me, init_status_);
    co_await require(me, begin());
    std::vector<peer_exchange>& all = others_;
    const std::size_t peers = all.size() - 1;  // this rank is the last
    flights headers(peers);
    flights coming(peers);
    flights going(2 * peers);
    co_await require(me, headers.status());
    co_await require(me, coming.status());
    co_await require(me, going.status());
    for (std::size_t i = 0; i < peers; ++i)
        headers[i].receive(me, all[i].rank, space_.at(all[i].header_in), header_length());
    for (std::size_t i = 0; i < peers; ++i)
        going[2 * i].send(me, all[i].rank, space_.at(all[i].header_out), header_length());
    if (options_.cast) {
        const work_of work([this] { cast_rows(); });
        co_await work.begin(me, plan_->chosen.tokens() * tensors_.x.row_bytes());
    }
    for (std::size_t i = 0; i <= peers; ++i) {
        const std::size_t bytes = all[i].rows_out * form_.row_bytes();
        if (bytes == 0) continue;
        const work_of work([&] { pack(all[i]); });
        co_await work.begin(me, bytes);
        if (i != peers) going[2 * i + 1].send(me, all[i].rank, space_.at(all[i].out), bytes);
    }
    for (std::size_t i = 0; i <= peers; ++i) {
        if (i != peers) co_await headers[i];
        co_await require(me, take_header(all[i]));
    }
    co_await require(me, find_ranges());
    for (std::size_t i = 0; i < peers; ++i) {
        const std::size_t bytes = all[i].rows_in * form_.row_bytes();
        if (bytes != 0) coming[i].receive(me, all[i].rank, received_.get() + all[i].in, bytes);
    }
    for (std::size_t i = 0; i <= peers; ++i) {
        const peer_exchange& from = all[peers - i];
        const bool own = i == 0;
        if (!own) co_await coming[peers - i];
        std::byte* const message = own ? space_.at(from.out) : received_.get() + from.in;
        if (from.rows_in == 0) continue;
        const const_parts rows = constant(form_.view(message, from.rows_in));
        co_await require(me, check_tokens(from, rows));
        const work_of work([&] { unpack(from, rows); });
        co_await work.begin(me, from.rows_in * form_.row_bytes());
    }
    for (std::size_t i = 0; i < 2 * peers; ++i)
        co_await going[i];
    result_ = std::exchange(pending_, nullptr);
}

}  // namespace ucg::moe
