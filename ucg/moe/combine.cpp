#include "ucg/moe/combine.hpp"

#include <algorithm>

#include "ucg/moe/check.hpp"

namespace ucg::moe {

using schedule::crew;
using schedule::flight;
using schedule::flights;
using schedule::member;
using schedule::require;
using schedule::task;

ucs_status_t combine::init(std::shared_ptr<const plan> by, const combine_tensors& what) noexcept {
    by_ = std::move(by);
    what_ = what;
    try {
        refused_ = prepare();
    } catch (const std::bad_alloc&) {
        refused_ = UCS_ERR_NO_MEMORY;
    }
    return refused_;
}

ucs_status_t combine::check() const noexcept {
    const bool expanded = what_.expanded != nullptr;
    const std::uint32_t count = expanded ? what_.expanded->rows() : by_->in.rows;
    const std::uint32_t tokens = by_->chosen.tokens();
    const std::uint32_t k = by_->chosen.k();
    checking all("combine");
    all.input(what_.from, count, expanded ? 1 : k);
    all.of_type("x", what_.from[values], "bf16, fp16 or fp32",
                {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32});
    all.alike("output", what_.into[values], what_.from[values], tokens);
    all.output_weights(what_.into[weights], what_.from[weights].elements != 0, tokens, k);
    for (const const_matrix& bias : what_.bias)
        if (bias.elements != 0) all.alike("bias", bias, what_.from[values], tokens);
    all.dense_rows("x", what_.from[values]);
    all.dense_rows("weights", what_.from[weights]);
    all.dense_rows("output", what_.into[values]);
    all.dense_rows("weights of the output", what_.into[weights]);
    for (const const_matrix& bias : what_.bias)
        all.dense_rows("bias", bias);
    all.apart({reads("x", what_.from[values]), reads("weights", what_.from[weights]),
               reads("bias", what_.bias[0]), reads("bias", what_.bias[1]),
               writes("output", what_.into[values]),
               writes("weights of the output", what_.into[weights])});
    return all.status();
}

combine::pair combine::take_two(std::uint32_t most_rows) noexcept {
    const std::size_t bytes = most_rows * form_.row_bytes();
    return {space_.take(bytes), space_.take(bytes)};
}

sum_memory combine::memory_for_folding() const {
    return sum_memory(what_.expanded != nullptr ? by_->in.k : 0);
}

// This rank's rows from one on, where each token has one.
const_parts combine::lying(std::uint32_t row) const noexcept {
    const_parts made = what_.from;
    for (const_matrix& each : made)
        if (each.elements != 0) each = each.from(row);
    return made;
}

ucs_status_t combine::prepare() {
    if (by_ == nullptr) return UCS_ERR_INVALID_PARAM;
    if (const ucs_status_t status = check(); status != UCS_OK) return status;
    const_parts like = what_.from;
    like[scales] = {};
    like[weights].elements = like[weights].elements != 0 ? by_->chosen.k() : 0;
    form_ = record(like);
    space_ = {};
    returns_.clear();
    relays_.clear();
    const bool as_it_lies =
        what_.expanded == nullptr && form_.only_values() && what_.from[values].dense();
    for (rank_t i = 1; i < by_->of->ranks(); ++i) {
        const rank_t source = (by_->of->self() + i) % by_->of->ranks();
        const rank_t target = by_->in.from[source];
        if (target == nobody || target == by_->of->self()) continue;
        const std::uint32_t* const counts = &by_->in.counts[std::size_t{source} * by_->by.channels];
        const std::uint32_t longest = *std::max_element(counts, counts + by_->by.channels);
        if (longest == 0) continue;
        returns_.push_back(
            {source, target, take_two(as_it_lies ? 0 : longest), memory_for_folding()});
    }
    prepare_relays();
    prepare_collection();
    return space_.allocate();
}

void combine::expect(adding& what, rank_t from, std::size_t list) {
    const bool lies = from == by_->of->self() && what_.expanded == nullptr;
    what.inputs.push_back({from, list, take_two(lies ? 0 : what.places->longest(list))});
}

void combine::prepare_sums(adding& what) const {
    what.sums = sum_memory(what.inputs.size());
    what.own_sums = memory_for_folding();
}

void combine::prepare_relays() {
    const team& of = *by_->of;
    const passing& through = by_->through;
    for (std::size_t s = 0; s < through.streams.size(); ++s) {
        if (!through.streams[s].relayed) continue;
        relaying one;
        one.stream = s;
        one.rows.source = through.streams[s].source;
        one.rows.places = &through.forwards;
        for (const rank_t rank : of.on(of.node()))
            expect(one.rows, rank, through.forward(of, s, of.index_of(rank)));
        prepare_sums(one.rows);
        const std::span<const std::uint32_t> counts = through.counts_of(s, by_->by.channels);
        one.results = take_two(*std::ranges::max_element(counts));
        relays_.push_back(std::move(one));
    }
}

void combine::prepare_collection() {
    const outgoing& out = by_->out;
    collection_ = {};
    collection_.source = by_->of->self();
    collection_.places = &out.tokens;
    for (std::size_t i = 0; i < out.paths.size(); ++i)
        expect(collection_, out.paths[i].target, i);
    prepare_sums(collection_);
}

std::uint64_t combine::form() const noexcept {
    return refused_ != UCS_OK ? 0 : form_.mixed_into(by_->agreed()).not_zero();
}

task combine::run(member& me) noexcept {
    return run_all(me, *this);
}

task combine::run_all(member& me, combine& of) {
    co_await require(me, of.refused_);
    crew all(of.relays_.size() + of.returns_.size() + 1);
    co_await require(me, all.status());
    all.add(collect(me, of, of.collection_));
    for (relaying& each : of.relays_)
        all.add(relay(me, of, each));
    for (returning& each : of.returns_)
        all.add(give_back(me, of, each));
    co_await all;
}

task combine::give_back(member& me, combine& of, returning& what) {
    const plan& by = *of.by_;
    const std::size_t list = std::size_t{what.source} * by.by.channels;
    const std::size_t row_bytes = of.form_.row_bytes();
    const const_matrix& x = of.what_.from[values];
    const bool as_it_lies = of.what_.expanded == nullptr && of.form_.only_values() && x.dense();
    const bool inside = by.of->node_of(what.target) == by.of->node();
    member on = me.on(inside ? by.of->channel_of(what.source) : schedule::channel_t{0});
    std::array<flight, 2> moves;
    unsigned turn = 0;
    for (std::uint32_t c = 0; c < by.by.channels; ++c) {
        const std::uint32_t count = by.in.counts[list + c];
        const std::uint32_t first = by.in.begins[list + c];
        if (count == 0) continue;
        co_await moves[turn];
        if (as_it_lies) {
            moves[turn].send(on, what.target, x.row(first), count * row_bytes);
            turn ^= 1U;
            continue;
        }
        std::byte* const message = of.space_.at(what.messages[turn]);
        if (of.what_.expanded != nullptr) {
            const folding work(of.form_.view(message, count), of.what_.from, *of.what_.expanded,
                               first, count, what.sums);
            co_await work.begin(me, count * row_bytes);
        } else {
            const gathering work(of.form_.view(message, count), of.lying(first), selection(count));
            co_await work.begin(me, count * row_bytes);
        }
        moves[turn].send(on, what.target, message, count * row_bytes);
        turn ^= 1U;
    }
    for (flight& each : moves)
        co_await each;
}

void combine::listen(member& me, const adding& what, flights& coming, std::uint32_t channel,
                     unsigned turn) const noexcept {
    const team& group = *by_->of;
    member inside = me.on(group.channel_of(what.source));
    for (std::size_t i = 0; i < what.inputs.size(); ++i) {
        const auto& [from, list, messages] = what.inputs[i];
        const std::size_t bytes = what.places->size(list, channel) * form_.row_bytes();
        if (from == group.self() || bytes == 0) continue;
        member& on = group.node_of(from) == group.node() ? inside : me;
        coming[2 * i + turn].receive(on, from, space_.at(messages[turn]), bytes);
    }
}

task combine::take(member& me, combine& of, adding& what, flights& coming, std::uint32_t channel,
                   unsigned turn) {
    const plan& by = *of.by_;
    what.rows = 0;
    for (std::size_t i = 0; i < what.inputs.size(); ++i) {
        const auto& [from, list, messages] = what.inputs[i];
        const std::span<const std::uint32_t> places = what.places->of(list, channel);
        const auto rows = static_cast<std::uint32_t>(places.size());
        const parts message = of.form_.view(of.space_.at(messages[turn]), rows);
        what.rows += rows;
        what.sums.addends[i] = {constant(message), places};
        co_await coming[2 * i + turn];
        if (from != by.of->self() || rows == 0) continue;
        const std::uint32_t first =
            by.in.begins[std::size_t{what.source} * by.by.channels + channel];
        if (of.what_.expanded == nullptr) {
            what.sums.addends[i].from = of.lying(first);
            continue;
        }
        const folding work(message, of.what_.from, *of.what_.expanded, first, rows, what.own_sums);
        co_await work.begin(me, rows * of.form_.row_bytes());
    }
}

task combine::relay(member& me, combine& of, relaying& what) {
    const plan& by = *of.by_;
    const std::size_t row_bytes = of.form_.row_bytes();
    const std::size_t addends = what.rows.inputs.size();
    flights coming(2 * addends);
    co_await require(me, coming.status());
    std::array<flight, 2> going;
    const auto listen = [&](const channel_walk::stop& at) {
        if (at.count != 0) of.listen(me, what.rows, coming, at.channel, at.turn);
    };
    channel_walk walk(by.through.counts_of(what.stream, by.by.channels));
    listen(walk.now());
    for (; walk; ++walk) {
        listen(walk.next());
        const auto [c, count, turn] = walk.now();
        co_await take(me, of, what.rows, coming, c, turn);
        co_await going[turn];
        std::byte* const result = of.space_.at(what.results[turn]);
        const summing work(of.form_.view(result, count), what.rows.sums, addends, 0, count);
        co_await work.begin(me, what.rows.rows * row_bytes);
        going[turn].send(me, what.rows.source, result, count * row_bytes);
    }
    for (flight& each : going)
        co_await each;
}

task combine::collect(member& me, combine& of, adding& what) {
    const plan& by = *of.by_;
    const channel_ranges& ranges = by.out.ranges;
    flights coming(2 * what.inputs.size());
    co_await require(me, coming.status());
    const auto listen = [&](std::uint32_t channel, unsigned turn) {
        if (channel < by.by.channels) of.listen(me, what, coming, channel, turn);
    };
    listen(0, 0);
    for (std::uint32_t c = 0; c < by.by.channels; ++c) {
        const unsigned turn = c % 2;
        listen(c + 1, turn ^ 1U);
        co_await take(me, of, what, coming, c, turn);
        const std::uint32_t begin = ranges.begin(c);
        const std::uint32_t end = ranges.end(c);
        const summing work(of.what_.into, what.sums, what.inputs.size(), begin, end, of.what_.bias);
        // A token that no rank has gets its biases or 0.
        co_await work.begin(me,
                            std::max<std::size_t>(what.rows, end - begin) * of.form_.row_bytes());
    }
}

}  // namespace ucg::moe
