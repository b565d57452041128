#include "ucg/moe/normal/dispatch.hpp"

#include <algorithm>

#include "ucg/moe/check.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::moe {

ucs_status_t dispatch::init(std::shared_ptr<const plan> plan,
                            const dispatch_tensors& tensors) noexcept {
    plan_ = std::move(plan);
    tensors_ = tensors;
    init_status_ = ucs::boundary(moe_log, "dispatch", [&] { return prepare(); });
    return init_status_;
}

ucs_status_t dispatch::check_room() const noexcept {
    const destination& into = tensors_.into;
    const std::uint32_t rows =
        into.expanded != nullptr ? into.expanded->rows() : plan_->receives.rows;
    return check(tensors_, plan_->chosen, into.expanded != nullptr,
                 [rows](const matrix&) -> std::uint64_t { return rows; });
}

ucs_status_t dispatch::check_form(const dispatch_tensors& tensors, const choices& chosen,
                                  bool expanded) noexcept {
    return check(tensors, chosen, expanded,
                 [](const matrix& each) { return std::min<std::uint64_t>(each.rows, 1); });
}

template<class Rows>
ucs_status_t dispatch::check(const dispatch_tensors& tensors, const choices& chosen, bool expanded,
                             Rows rows) noexcept {
    const const_parts& from = tensors.from;
    const destination& into = tensors.into;
    argument_checks checks("dispatch");
    checks.check_input(from, chosen.tokens(), chosen.k());
    checks.check_type("x", from[values], "bf16, fp16, fp32 or fp8_e4m3",
                      {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32,
                       reduce::element::fp8_e4m3});
    for (const std::size_t p : {scales, values})
        checks.check_same_form(p == scales ? "scales of the output" : "output", into.into[p],
                               from[p], rows(into.into[p]));
    const std::uint32_t columns = expanded ? 1 : chosen.k();
    checks.check_output_weights(into.into[weights], from[weights].elements != 0,
                                rows(into.into[weights]), columns);
    if (into.chosen.elements != 0) {
        checks.check_type("chosen experts of the output", into.chosen, "int32 or int64",
                          {reduce::element::int32, reduce::element::int64});
        checks.check_shape("chosen experts of the output", into.chosen, rows(into.chosen),
                           expanded ? 0 : columns);
    }
    checks.check_overlap({read_access("x", from[values]), read_access("scales", from[scales]),
                          read_access("weights", from[weights]),
                          write_access("output", into.into[values]),
                          write_access("scales of the output", into.into[scales]),
                          write_access("weights of the output", into.into[weights]),
                          write_access("chosen experts of the output", into.chosen)});
    return checks.status();
}

ucs_status_t dispatch::prepare() {
    if (plan_ == nullptr) return UCS_ERR_INVALID_PARAM;
    if (const ucs_status_t status = check_room(); status != UCS_OK) return status;
    const team& group = *plan_->group;
    form_ = record(tensors_.from);
    const std::size_t row_bytes = form_.row_bytes();
    space_ = {};
    sends_.clear();
    own_.clear();
    relays_.clear();
    receives_.clear();
    for (std::size_t i = 0; i < plan_->sends.paths.size(); ++i) {
        if (plan_->sends.paths[i].target == group.self())
            own_.push_back(i);
        else
            sends_.push_back({i, space_.take_two(plan_->sends.tokens.longest(i) * row_bytes)});
    }
    // The sends begin with the first target above this rank and wrap around, so that not all ranks
    // send to the same target first.
    const auto first = std::ranges::find_if(sends_, [&](const send_stream& s) {
        return plan_->sends.paths[s.path].target > group.self();
    });
    std::rotate(sends_.begin(), first, sends_.end());
    for (std::size_t s = 0; s < plan_->relays.streams.size(); ++s) {
        if (!plan_->relays.streams[s].relayed) continue;
        const std::span<const std::uint32_t> counts =
            plan_->relays.counts_of(s, plan_->options.channels);
        relay_stream one{s, space_.take_two(*std::ranges::max_element(counts) * row_bytes), {}};
        for (const rank_t rank : group.ranks_on(group.node())) {
            const std::size_t list = plan_->relays.forward(group, s, group.index_of(rank));
            const std::uint32_t rows =
                rank == group.self() ? 0 : plan_->relays.forwards.longest(list);
            one.forwards.push_back(space_.take_two(rows * row_bytes));
        }
        relays_.push_back(std::move(one));
    }
    add_receivers();
    return space_.allocate();
}

// The rows of one source are contiguous in the output. This rank receives them directly into the
// output if they consist of values only, if each token has one row, and if the output has no gaps.
void dispatch::add_receivers() {
    const bool in_place = form_.has_only_values() && tensors_.into.expanded == nullptr &&
                          tensors_.into.into[values].is_dense();
    for (rank_t source = 0; source < plan_->group->ranks(); ++source) {
        const rank_t from = plan_->receives.senders[source];
        if (from == no_rank || from == plan_->group->self()) continue;
        const std::uint32_t longest =
            *std::ranges::max_element(plan_->receives.counts_of(source, plan_->options.channels));
        if (longest == 0) continue;
        receives_.push_back(
            {source, in_place, space_.take_two(in_place ? 0 : longest * form_.row_bytes())});
    }
}

std::uint64_t dispatch::form() const noexcept {
    return init_status_ != UCS_OK ? 0 : form_.mixed_into(plan_->agreed()).not_zero();
}

task dispatch::run(member& me) noexcept {
    co_await require(me, init_status_);
    fill();
    task_group all(receives_.size() + relays_.size() + sends_.size() + own_.size());
    co_await require(me, all.status());
    for (const receive_stream& each : receives_)
        all.add(receive(me, each));
    for (const relay_stream& each : relays_)
        all.add(relay(me, each));
    for (const send_stream& each : sends_)
        all.add(send_path(me, each));
    for (const std::size_t& each : own_)
        all.add(keep_own(me, each));
    co_await all;
}

// Writes the parts of the output that no received row provides: the chosen experts, and the padding
// of the expanded layout.
void dispatch::fill() const noexcept {
    const matrix& chosen = tensors_.into.chosen;
    for (std::uint64_t row = 0; row < (chosen.elements != 0 ? chosen.rows : 0); ++row) {
        const expert_t* const experts =
            row < plan_->receives.rows ? &plan_->receives.chosen[row * plan_->receives.k] : nullptr;
        for (std::uint32_t j = 0; j < chosen.elements; ++j)
            put_integer(chosen, row, j, experts != nullptr ? experts[j] : choices::none);
    }
    const expansion* const expanded = tensors_.into.expanded;
    if (expanded == nullptr || !tensors_.zero_padding) return;
    for (std::uint32_t expert = 0; expert < expanded->experts(); ++expert) {
        const std::uint32_t end = expanded->begin(expert + 1);
        for (std::uint32_t row = expanded->begin(expert) + expanded->count(expert); row < end;
             ++row)
            for (const matrix& part : tensors_.into.into)
                if (part.elements != 0) zero_row(part, row);
    }
}

// Sends the tokens of this rank for one target, one message for each channel. It packs a message
// while the previous one is in flight.
task dispatch::send_path(member& me, const send_stream& stream) const {
    const send_plan& sends = plan_->sends;
    const team& group = *plan_->group;
    const rank_t target = sends.paths[stream.path].target;
    const bool inside = group.node_of(target) == group.node();
    member on = me.on_channel(inside ? group.channel_of(group.self()) : schedule::channel_t{0});
    std::array<flight, 2> moves;
    unsigned buffer = 0;
    for (std::uint32_t c = 0; c < sends.tokens.channels(); ++c) {
        const std::span<const std::uint32_t> tokens = sends.tokens.list(stream.path, c);
        if (tokens.empty()) continue;
        const std::size_t bytes = tokens.size() * form_.row_bytes();
        std::byte* const message = space_.at(stream.messages[buffer]);
        co_await moves[buffer];
        const gather_work work(form_.view(message, static_cast<std::uint32_t>(tokens.size())),
                               tensors_.from, tokens);
        co_await work.begin(me, bytes);
        moves[buffer].send(on, target, message, bytes);
        buffer ^= 1U;
    }
    for (flight& each : moves)
        co_await each;
}

// Copies the tokens of this rank for its own experts to the output.
task dispatch::keep_own(member& me, const std::size_t& path) const {
    const plan& plan = *plan_;
    const std::size_t own_rank = plan.group->self();
    for (std::uint32_t c = 0; c < plan.options.channels; ++c) {
        const std::span<const std::uint32_t> tokens = plan.sends.tokens.list(path, c);
        if (tokens.empty()) continue;
        const place_work work(tensors_.into, plan.receives,
                              plan.receives.begins[own_rank * plan.options.channels + c],
                              tensors_.from, tokens);
        co_await work.begin(me, tokens.size() * form_.row_bytes());
    }
}

// Receives the tokens of a source on another node, and forwards each to the ranks of this node that
// need it.
task dispatch::relay(member& me, const relay_stream& relayed) const {
    const plan& plan = *plan_;
    const team& group = *plan.group;
    const std::span<const rank_t> local_ranks = group.ranks_on(group.node());
    const rank_t source = plan.relays.streams[relayed.stream].source;
    const std::size_t row_bytes = form_.row_bytes();
    member inside = me.on_channel(group.channel_of(source));
    std::array<flight, 2> coming;
    flights going(2 * local_ranks.size());
    co_await require(me, going.status());
    const auto post_receive = [&](const channel_walk::position& position) {
        if (position.count == 0) return;
        coming[position.buffer].receive(me, source, space_.at(relayed.messages[position.buffer]),
                                        position.count * row_bytes);
    };
    channel_walk walk(plan.relays.counts_of(relayed.stream, plan.options.channels));
    post_receive(walk.current());
    for (; walk; ++walk) {
        post_receive(walk.next());
        const auto [c, count, buffer] = walk.current();
        co_await coming[buffer];
        const std::byte* const message = space_.at(relayed.messages[buffer]);
        const const_parts from = form_.view(message, count);
        for (std::size_t i = 0; i < local_ranks.size(); ++i) {
            const std::span<const std::uint32_t> places = plan.relays.forwards.list(
                plan.relays.forward(group, relayed.stream, static_cast<rank_t>(i)), c);
            const std::size_t bytes = places.size() * row_bytes;
            if (places.empty()) continue;
            if (local_ranks[i] == group.self()) {
                const std::size_t row =
                    plan.receives.begins[std::size_t{source} * plan.options.channels + c];
                const place_work work(tensors_.into, plan.receives, static_cast<std::uint32_t>(row),
                                      from, places);
                co_await work.begin(me, bytes);
                continue;
            }
            flight& move = going[2 * i + buffer];
            std::byte* const forward = space_.at(relayed.forwards[i][buffer]);
            co_await move;
            const gather_work work(form_.view(forward, static_cast<std::uint32_t>(places.size())),
                                   from, places);
            co_await work.begin(me, bytes);
            move.send(inside, local_ranks[i], forward, bytes);
        }
    }
    for (std::size_t i = 0; i < 2 * local_ranks.size(); ++i)
        co_await going[i];
}

// Receives the rows of one source, from the source itself or from the rank that relays them, and
// copies them to the output unless they arrive there.
task dispatch::receive(member& me, const receive_stream& stream) const {
    const plan& plan = *plan_;
    const std::size_t list = std::size_t{stream.source} * plan.options.channels;
    const rank_t from = plan.receives.senders[stream.source];
    const bool inside = plan.group->node_of(from) == plan.group->node();
    member on =
        me.on_channel(inside ? plan.group->channel_of(stream.source) : schedule::channel_t{0});
    std::array<flight, 2> moves;
    const auto message = [&](std::uint32_t c, unsigned buffer) {
        return stream.in_place ? tensors_.into.into[values].row(plan.receives.begins[list + c])
                               : space_.at(stream.messages[buffer]);
    };
    const auto post_receive = [&](const channel_walk::position& position) {
        if (position.count == 0) return;
        moves[position.buffer].receive(on, from, message(position.channel, position.buffer),
                                       position.count * form_.row_bytes());
    };
    channel_walk walk(plan.receives.counts_of(stream.source, plan.options.channels));
    post_receive(walk.current());
    for (; walk; ++walk) {
        post_receive(walk.next());
        const auto [c, count, buffer] = walk.current();
        co_await moves[buffer];
        if (stream.in_place) continue;
        const const_parts rows = constant(form_.view(message(c, buffer), count));
        const place_work work(tensors_.into, plan.receives, plan.receives.begins[list + c], rows,
                              selection(count));
        co_await work.begin(me, count * form_.row_bytes());
    }
}

}  // namespace ucg::moe
