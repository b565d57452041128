#include "ucg/moe/low_latency/combine.hpp"

#include "ucg/moe/check.hpp"
#include "ucg/moe/numbers/logfmt.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::moe {

// Copies the rows for one source into a message, expert by expert.
void low_latency_combine::pack(const peer_exchange& to) const noexcept {
    const const_matrix first = tensors_.values.first;
    std::byte* const message = space_.at(to.out);
    const matrix into = dense_matrix(message, to.rows_out, first.elements, first.type);
    std::uint32_t row = 0;
    for (std::uint32_t e = 0; e < slots_->plan->group->local_experts(); ++e) {
        const const_matrix from = tensors_.values.of_expert(e);
        const slots::range range = slots_->range_of(e, to.rank);
        for (std::uint32_t i = range.begin; i < range.begin + range.count; ++i, ++row) {
            if (tensors_.transfer == row_transfer::in_logfmt)
                logfmt_encode(message + row * sent_bytes_, from, i);
            else
                copy_row(into, row, from, i);
        }
    }
}

void low_latency_combine::add_rows() noexcept {
    const choices& chosen = slots_->plan->chosen;
    const matrix& into = tensors_.into;
    for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
        std::size_t count = 0;
        for (std::uint32_t j = 0; j < chosen.k(); ++j) {
            const expert_t expert = chosen.experts_of(token)[j];
            if (expert == choices::none) continue;
            terms_[count++] = {row_of(token, j, expert), float_at(tensors_.weights, token, j)};
        }
        const std::span<const weighted> from = std::span(terms_).first(count);
        if (tensors_.transfer == row_transfer::in_logfmt)
            add_weighted_logfmt(into.row(token), from, into.elements);
        else
            add_weighted(into.row(token), from, into.elements, into.type);
    }
}

// Returns the row that belongs to choice `j` of a token.
const std::byte* low_latency_combine::row_of(std::uint32_t token, std::uint32_t j,
                                             expert_t expert) const noexcept {
    const slot_plan& plan = *slots_->plan;
    const peer_exchange& from = others_[index_of_rank_[plan.group->rank_of(expert)]];
    const std::uint32_t place = plan.row_in_message[std::size_t{token} * plan.chosen.k() + j];
    if (from.rank != plan.group->self() || from.packs)
        return space_.at(from.in) + place * sent_bytes_;
    const auto e = static_cast<std::uint32_t>(plan.group->local(expert));
    const std::uint32_t first = slots_->range_of(e, from.rank).begin;
    return tensors_.values.of_expert(e).row(first + (place - own_places_[e]));
}

ucs_status_t low_latency_combine::init(std::shared_ptr<const slots> slots,
                                       const low_latency_combine_tensors& tensors) noexcept {
    slots_ = std::move(slots);
    tensors_ = tensors;
    init_status_ = ucs::boundary(moe_log, "low-latency combine", [&] { return prepare(); });
    return init_status_;
}

ucs_status_t low_latency_combine::check() const noexcept {
    const choices& chosen = slots_->plan->chosen;
    const const_matrix& from = tensors_.values.first;
    argument_checks checks("low-latency combine");
    checks.check_stack("x", tensors_.values, slots_->plan->capacity(), from.elements);
    checks.check_type("x", from, "bf16, fp16 or fp32",
                      {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32});
    checks.check_same_form("output", tensors_.into, from, chosen.tokens());
    checks.check_dense_rows("output", tensors_.into);
    checks.check_shape("weights", tensors_.weights, chosen.tokens(), chosen.k());
    checks.check_type("weights", tensors_.weights, "fp32", {reduce::element::fp32});
    if (tensors_.transfer == row_transfer::in_place)
        checks.check_dense("x that is sent from where it lies", from);
    if (tensors_.transfer == row_transfer::in_logfmt) {
        checks.check_type("x that is compressed", from, "bf16", {reduce::element::bf16});
        checks.check_multiple("x that is compressed", from, logfmt_group);
    }
    const std::uint32_t experts = slots_->plan->group->local_experts();
    checks.check_overlap({{"x", footprint(tensors_.values, experts), false},
                          read_access("weights", tensors_.weights),
                          write_access("output", tensors_.into)});
    return checks.status();
}

// Returns the rows for a source if they can be sent from where they lie in one message: they belong
// to one expert, are dense and are not compressed. Returns null otherwise.
const std::byte* low_latency_combine::rows_in_place(rank_t rank) const noexcept {
    if (tensors_.transfer == row_transfer::in_logfmt) return nullptr;
    const std::byte* found = nullptr;
    for (std::uint32_t e = 0; e < slots_->plan->group->local_experts(); ++e) {
        const slots::range range = slots_->range_of(e, rank);
        if (range.count == 0) continue;
        if (found != nullptr || !tensors_.values.first.is_dense()) return nullptr;
        found = tensors_.values.of_expert(e).row(range.begin);
    }
    return found;
}

// Returns whether the rows that stay on this rank can be added up without a copy.
bool low_latency_combine::can_add_own_rows_in_place() const noexcept {
    return tensors_.transfer != row_transfer::in_logfmt && tensors_.values.first.has_dense_rows();
}

// Rows are sent and received expert by expert. `in_place` points to the rows of a message that
// needs no copy, or is null.
void low_latency_combine::list_messages(peer_exchange& with, const std::byte* in_place) {
    const std::uint32_t experts = slots_->plan->group->local_experts();
    const auto place_of = [&](std::size_t rows) { return with.in + rows * sent_bytes_; };
    if (tensors_.transfer != row_transfer::in_place) {
        if (with.rows_out != 0) sends_.push_back({in_place, with.rows_out * sent_bytes_});
        if (with.rows_in != 0)
            receives_.push_back({with.rank, place_of(0), with.rows_in * sent_bytes_});
    } else {
        std::size_t row = 0;
        for (std::uint32_t e = 0; e < experts; ++e) {
            const slots::range out = slots_->range_of(e, with.rank);
            const std::size_t in = slots_->plan->sent.size(std::size_t{with.rank} * experts + e, 0);
            if (out.count != 0)
                sends_.push_back(
                    {tensors_.values.of_expert(e).row(out.begin), out.count * sent_bytes_});
            if (in != 0) receives_.push_back({with.rank, place_of(row), in * sent_bytes_});
            row += in;
        }
    }
    with.out_end = sends_.size();
}

ucs_status_t low_latency_combine::prepare() {
    if (slots_ == nullptr) return UCS_ERR_INVALID_PARAM;
    if (const ucs_status_t status = check(); status != UCS_OK) return status;
    const team& group = *slots_->plan->group;
    row_bytes_ = tensors_.values.first.row_bytes();
    sent_bytes_ = tensors_.transfer == row_transfer::in_logfmt
                      ? logfmt_row_bytes(tensors_.values.first.elements)
                      : row_bytes_;
    space_ = {};
    others_.clear();
    sends_.clear();
    receives_.clear();
    index_of_rank_.assign(group.ranks(), 0);
    terms_.resize(slots_->plan->chosen.k());
    own_places_.clear();
    std::uint32_t own_rows = 0;
    for (std::uint32_t e = 0; e < group.local_experts(); ++e) {
        own_places_.push_back(own_rows);
        own_rows += slots_->range_of(e, group.self()).count;
    }
    for (rank_t i = 1; i <= group.ranks(); ++i) {
        const rank_t rank = (group.self() + i) % group.ranks();
        if (!group.is_alive(rank)) continue;
        const bool own = rank == group.self();
        peer_exchange one{rank, slots_->rows_from(rank), slots_->plan->rows_to(rank), false, 0, 0,
                          0};
        const std::byte* const in_place = own ? nullptr : rows_in_place(rank);
        one.packs = own ? !can_add_own_rows_in_place()
                        : tensors_.transfer != row_transfer::in_place && in_place == nullptr;
        one.out = space_.take(one.packs ? one.rows_out * sent_bytes_ : 0);
        one.in = own ? one.out : space_.take(one.rows_in * sent_bytes_);
        if (!own) list_messages(one, in_place);
        index_of_rank_[rank] = others_.size();
        others_.push_back(one);
    }
    return space_.allocate();
}

std::uint64_t low_latency_combine::form() const noexcept {
    if (init_status_ != UCS_OK) return 0;
    const const_matrix& x = tensors_.values.first;
    return slots_->plan->group->agreed()
        .with(slots_->plan->options.max_tokens, x.elements, x.type, tensors_.transfer)
        .not_zero();
}

task low_latency_combine::run(member& me) noexcept {
    co_await require(me, init_status_);
    flights coming(receives_.size());
    flights going(sends_.size());
    co_await require(me, coming.status());
    co_await require(me, going.status());
    for (std::size_t i = 0; i < receives_.size(); ++i) {
        const incoming_rows& one = receives_[i];
        coming[i].receive(me, one.rank, space_.at(one.into), one.bytes);
    }
    std::size_t summed = 0;
    std::size_t sent = 0;
    for (const peer_exchange& to : others_) {
        summed += to.rows_in * row_bytes_;
        if (to.packs && to.rows_out != 0) {
            const work_of work([&] { pack(to); });
            co_await work.begin(me, to.rows_out * row_bytes_);
        }
        for (; sent < to.out_end; ++sent) {
            const outgoing_rows& one = sends_[sent];
            going[sent].send(me, to.rank,
                             one.in_place != nullptr ? one.in_place : space_.at(to.out), one.bytes);
        }
    }
    for (std::size_t i = 0; i < receives_.size(); ++i)
        co_await coming[i];
    const work_of work([this] { add_rows(); });
    // The sum runs even if no rows were received: a token without choices becomes 0.
    co_await work.begin(me, summed + slots_->plan->chosen.tokens() * row_bytes_);
    for (std::size_t i = 0; i < sends_.size(); ++i)
        co_await going[i];
}

}  // namespace ucg::moe
