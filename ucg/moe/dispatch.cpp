#include "ucg/moe/dispatch.hpp"

#include <algorithm>

#include "ucg/moe/check.hpp"
#include "ucg/moe/log.hpp"

namespace ucg::moe {

using schedule::crew;
using schedule::flight;
using schedule::flights;
using schedule::member;
using schedule::require;
using schedule::task;

ucs_status_t dispatch::init(std::shared_ptr<const plan> by, const dispatch_tensors& what) noexcept {
    by_ = std::move(by);
    what_ = what;
    try {
        refused_ = prepare();
    } catch (const std::bad_alloc&) {
        refused_ = UCS_ERR_NO_MEMORY;
    }
    return refused_;
}

ucs_status_t dispatch::check_room() const noexcept {
    const destination& into = what_.into;
    const std::uint32_t rows = into.expanded != nullptr ? into.expanded->rows() : by_->in.rows;
    return check(what_, by_->chosen, into.expanded != nullptr,
                 [rows](const matrix&) -> std::uint64_t { return rows; });
}

ucs_status_t dispatch::check_form(const dispatch_tensors& what, const choices& chosen,
                                  bool expanded) noexcept {
    return check(what, chosen, expanded,
                 [](const matrix& each) { return std::min<std::uint64_t>(each.rows, 1); });
}

template<class Rows>
ucs_status_t dispatch::check(const dispatch_tensors& what, const choices& chosen, bool expanded,
                             Rows rows) noexcept {
    const const_parts& from = what.from;
    const destination& into = what.into;
    checking all("dispatch");
    all.input(from, chosen.tokens(), chosen.k());
    all.of_type("x", from[values], "bf16, fp16, fp32 or fp8_e4m3",
                {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32,
                 reduce::element::fp8_e4m3});
    for (const std::size_t p : {scales, values})
        all.alike(p == scales ? "scales of the output" : "output", into.into[p], from[p],
                  rows(into.into[p]));
    const std::uint32_t columns = expanded ? 1 : chosen.k();
    all.output_weights(into.into[weights], from[weights].elements != 0, rows(into.into[weights]),
                       columns);
    if (into.chosen.elements != 0) {
        all.of_type("chosen experts of the output", into.chosen, "int32 or int64",
                    {reduce::element::int32, reduce::element::int64});
        all.shape("chosen experts of the output", into.chosen, rows(into.chosen),
                  expanded ? 0 : columns);
    }
    all.apart({reads("x", from[values]), reads("scales", from[scales]),
               reads("weights", from[weights]), writes("output", into.into[values]),
               writes("scales of the output", into.into[scales]),
               writes("weights of the output", into.into[weights]),
               writes("chosen experts of the output", into.chosen)});
    return all.status();
}

dispatch::pair dispatch::take_two(std::uint32_t most_rows) noexcept {
    const std::size_t bytes = most_rows * form_.row_bytes();
    return {space_.take(bytes), space_.take(bytes)};
}

ucs_status_t dispatch::prepare() {
    if (by_ == nullptr) return UCS_ERR_INVALID_PARAM;
    if (const ucs_status_t status = check_room(); status != UCS_OK) return status;
    const team& of = *by_->of;
    form_ = record(what_.from);
    space_ = {};
    sends_.clear();
    own_.clear();
    relays_.clear();
    receives_.clear();
    for (std::size_t i = 0; i < by_->out.paths.size(); ++i) {
        if (by_->out.paths[i].target == of.self())
            own_.push_back(i);
        else
            sends_.push_back({i, take_two(by_->out.tokens.longest(i))});
    }
    // Each begins with those behind itself, so that not all send to the same one.
    const auto first = std::ranges::find_if(
        sends_, [&](const sending& s) { return by_->out.paths[s.path].target > of.self(); });
    std::rotate(sends_.begin(), first, sends_.end());
    for (std::size_t s = 0; s < by_->through.streams.size(); ++s) {
        if (!by_->through.streams[s].relayed) continue;
        const std::uint32_t* const counts = &by_->through.counts[s * by_->by.channels];
        relaying one{s, take_two(*std::max_element(counts, counts + by_->by.channels)), {}};
        for (const rank_t rank : of.on(of.node())) {
            const std::size_t list = by_->through.forward(of, s, of.index_of(rank));
            const bool here = rank == of.self();
            one.forwards.push_back(take_two(here ? 0 : by_->through.forwards.longest(list)));
        }
        relays_.push_back(std::move(one));
    }
    add_receivers();
    return space_.allocate();
}

// Rows of one source are neighbours, so they can be received where they belong unless they are more
// than values, or not in a row for each token.
void dispatch::add_receivers() {
    const bool in_place =
        form_.only_values() && what_.into.expanded == nullptr && what_.into.into[values].dense();
    for (rank_t source = 0; source < by_->of->ranks(); ++source) {
        const rank_t from = by_->in.from[source];
        if (from == nobody || from == by_->of->self()) continue;
        const std::uint32_t* const counts = &by_->in.counts[std::size_t{source} * by_->by.channels];
        const std::uint32_t longest = *std::max_element(counts, counts + by_->by.channels);
        if (longest == 0) continue;
        receives_.push_back({source, in_place, take_two(in_place ? 0 : longest)});
    }
}

std::uint64_t dispatch::form() const noexcept {
    return refused_ != UCS_OK ? 0 : form_.mixed_into(by_->agreed()).not_zero();
}

task dispatch::run(member& me) noexcept {
    return run_all(me, *this);
}

task dispatch::run_all(member& me, const dispatch& of) {
    co_await require(me, of.refused_);
    of.fill();
    crew all(of.receives_.size() + of.relays_.size() + of.sends_.size() + of.own_.size());
    co_await require(me, all.status());
    for (const receiving& each : of.receives_)
        all.add(receive(me, of, each));
    for (const relaying& each : of.relays_)
        all.add(relay(me, of, each));
    for (const sending& each : of.sends_)
        all.add(send_path(me, of, each));
    for (const std::size_t& each : of.own_)
        all.add(keep_own(me, of, each));
    co_await all;
}

// What no row is written to.
void dispatch::fill() const noexcept {
    const matrix& chosen = what_.into.chosen;
    for (std::uint64_t row = 0; row < (chosen.elements != 0 ? chosen.rows : 0); ++row) {
        const expert_t* const here =
            row < by_->in.rows ? &by_->in.chosen[row * by_->in.k] : nullptr;
        for (std::uint32_t j = 0; j < chosen.elements; ++j)
            put_integer(chosen, row, j, here != nullptr ? here[j] : choices::none);
    }
    const expansion* const expanded = what_.into.expanded;
    if (expanded == nullptr || !what_.zero_padding) return;
    for (std::uint32_t expert = 0; expert < expanded->experts(); ++expert) {
        const std::uint32_t end = expanded->begin(expert + 1);
        for (std::uint32_t row = expanded->begin(expert) + expanded->count(expert); row < end;
             ++row)
            for (const matrix& part : what_.into.into)
                if (part.elements != 0) zero_row(part, row);
    }
}

task dispatch::send_path(member& me, const dispatch& of, const sending& what) {
    const outgoing& out = of.by_->out;
    const team& group = *of.by_->of;
    const rank_t target = out.paths[what.path].target;
    const bool inside = group.node_of(target) == group.node();
    member on = me.on(inside ? group.channel_of(group.self()) : schedule::channel_t{0});
    std::array<flight, 2> moves;
    unsigned turn = 0;
    for (std::uint32_t c = 0; c < out.tokens.channels(); ++c) {
        const std::span<const std::uint32_t> tokens = out.tokens.of(what.path, c);
        if (tokens.empty()) continue;
        const std::size_t bytes = tokens.size() * of.form_.row_bytes();
        std::byte* const message = of.space_.at(what.messages[turn]);
        co_await moves[turn];
        const gathering work(of.form_.view(message, static_cast<std::uint32_t>(tokens.size())),
                             of.what_.from, tokens);
        co_await work.begin(me, bytes);
        moves[turn].send(on, target, message, bytes);
        turn ^= 1U;
    }
    for (flight& each : moves)
        co_await each;
}

task dispatch::keep_own(member& me, const dispatch& of, const std::size_t& path) {
    const plan& by = *of.by_;
    const std::size_t self = by.of->self();
    for (std::uint32_t c = 0; c < by.by.channels; ++c) {
        const std::span<const std::uint32_t> tokens = by.out.tokens.of(path, c);
        if (tokens.empty()) continue;
        const placing work(of.what_.into, by.in, by.in.begins[self * by.by.channels + c],
                           of.what_.from, tokens);
        co_await work.begin(me, tokens.size() * of.form_.row_bytes());
    }
}

task dispatch::relay(member& me, const dispatch& of, const relaying& what) {
    const plan& by = *of.by_;
    const team& group = *by.of;
    const std::span<const rank_t> here = group.on(group.node());
    const rank_t source = by.through.streams[what.stream].source;
    const std::size_t row_bytes = of.form_.row_bytes();
    member inside = me.on(group.channel_of(source));
    std::array<flight, 2> coming;
    flights going(2 * here.size());
    co_await require(me, going.status());
    const auto listen = [&](const channel_walk::stop& at) {
        if (at.count == 0) return;
        coming[at.turn].receive(me, source, of.space_.at(what.messages[at.turn]),
                                at.count * row_bytes);
    };
    channel_walk walk(by.through.counts_of(what.stream, by.by.channels));
    listen(walk.now());
    for (; walk; ++walk) {
        listen(walk.next());
        const auto [c, count, turn] = walk.now();
        co_await coming[turn];
        const std::byte* const message = of.space_.at(what.messages[turn]);
        const const_parts from = of.form_.view(message, count);
        for (std::size_t i = 0; i < here.size(); ++i) {
            const std::span<const std::uint32_t> places = by.through.forwards.of(
                by.through.forward(group, what.stream, static_cast<rank_t>(i)), c);
            const std::size_t bytes = places.size() * row_bytes;
            if (places.empty()) continue;
            if (here[i] == group.self()) {
                const std::size_t row = by.in.begins[std::size_t{source} * by.by.channels + c];
                const placing work(of.what_.into, by.in, static_cast<std::uint32_t>(row), from,
                                   places);
                co_await work.begin(me, bytes);
                continue;
            }
            flight& move = going[2 * i + turn];
            std::byte* const forward = of.space_.at(what.forwards[i][turn]);
            co_await move;
            const gathering work(of.form_.view(forward, static_cast<std::uint32_t>(places.size())),
                                 from, places);
            co_await work.begin(me, bytes);
            move.send(inside, here[i], forward, bytes);
        }
    }
    for (std::size_t i = 0; i < 2 * here.size(); ++i)
        co_await going[i];
}

task dispatch::receive(member& me, const dispatch& of, const receiving& what) {
    const plan& by = *of.by_;
    const std::size_t list = std::size_t{what.source} * by.by.channels;
    const rank_t from = by.in.from[what.source];
    const bool inside = by.of->node_of(from) == by.of->node();
    member on = me.on(inside ? by.of->channel_of(what.source) : schedule::channel_t{0});
    std::array<flight, 2> moves;
    const auto message = [&](std::uint32_t c, unsigned turn) {
        return what.in_place ? of.what_.into.into[values].row(by.in.begins[list + c])
                             : of.space_.at(what.messages[turn]);
    };
    const auto listen = [&](const channel_walk::stop& at) {
        if (at.count == 0) return;
        moves[at.turn].receive(on, from, message(at.channel, at.turn),
                               at.count * of.form_.row_bytes());
    };
    channel_walk walk(by.in.counts_of(what.source, by.by.channels));
    listen(walk.now());
    for (; walk; ++walk) {
        listen(walk.next());
        const auto [c, count, turn] = walk.now();
        co_await moves[turn];
        if (what.in_place) continue;
        const const_parts come = constant(of.form_.view(message(c, turn), count));
        const placing work(of.what_.into, by.in, by.in.begins[list + c], come, selection(count));
        co_await work.begin(me, count * of.form_.row_bytes());
    }
}

}  // namespace ucg::moe
