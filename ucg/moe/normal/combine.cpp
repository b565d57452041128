#include "ucg/moe/normal/combine.hpp"

#include <algorithm>

#include "ucg/moe/check.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::moe {

ucs_status_t combine::init(std::shared_ptr<const plan> plan,
                           const combine_tensors& tensors) noexcept {
    plan_ = std::move(plan);
    tensors_ = tensors;
    init_status_ = ucs::boundary(moe_log, "combine", [&] { return prepare(); });
    return init_status_;
}

ucs_status_t combine::check() const noexcept {
    const bool expanded = tensors_.expanded != nullptr;
    const std::uint32_t count = expanded ? tensors_.expanded->rows() : plan_->receives.rows;
    const std::uint32_t tokens = plan_->chosen.tokens();
    const std::uint32_t k = plan_->chosen.k();
    argument_checks checks("combine");
    checks.check_input(tensors_.from, count, expanded ? 1 : k);
    checks.check_type("x", tensors_.from[values], "bf16, fp16 or fp32",
                      {reduce::element::bf16, reduce::element::fp16, reduce::element::fp32});
    checks.check_same_form("output", tensors_.into[values], tensors_.from[values], tokens);
    checks.check_output_weights(tensors_.into[weights], tensors_.from[weights].elements != 0,
                                tokens, k);
    for (const const_matrix& bias : tensors_.bias)
        if (bias.elements != 0) checks.check_same_form("bias", bias, tensors_.from[values], tokens);
    checks.check_dense_rows("x", tensors_.from[values]);
    checks.check_dense_rows("weights", tensors_.from[weights]);
    checks.check_dense_rows("output", tensors_.into[values]);
    checks.check_dense_rows("weights of the output", tensors_.into[weights]);
    for (const const_matrix& bias : tensors_.bias)
        checks.check_dense_rows("bias", bias);
    checks.check_overlap(
        {read_access("x", tensors_.from[values]), read_access("weights", tensors_.from[weights]),
         read_access("bias", tensors_.bias[0]), read_access("bias", tensors_.bias[1]),
         write_access("output", tensors_.into[values]),
         write_access("weights of the output", tensors_.into[weights])});
    return checks.status();
}

// True if messages are sent directly from the input.
bool combine::sends_input() const noexcept {
    return tensors_.expanded == nullptr && form_.has_only_values() &&
           tensors_.from[values].is_dense();
}

// Folding adds up the rows of one token in the expanded layout. The other layout needs no memory
// for that.
sum_memory combine::memory_for_folding() const {
    return sum_memory(tensors_.expanded != nullptr ? plan_->receives.k : 0);
}

// Returns the rows of this rank's input from `row` to the end. Requires the layout with one row for
// each received token.
const_parts combine::rows_from(std::uint32_t row) const noexcept {
    const_parts made = tensors_.from;
    for (const_matrix& each : made)
        if (each.elements != 0) each = each.from(row);
    return made;
}

ucs_status_t combine::prepare() {
    if (plan_ == nullptr) return UCS_ERR_INVALID_PARAM;
    if (const ucs_status_t status = check(); status != UCS_OK) return status;
    const_parts like = tensors_.from;
    like[scales] = {};
    like[weights].elements = like[weights].elements != 0 ? plan_->chosen.k() : 0;
    form_ = record(like);
    space_ = {};
    returns_.clear();
    relays_.clear();
    for (rank_t i = 1; i < plan_->group->ranks(); ++i) {
        const rank_t source = (plan_->group->self() + i) % plan_->group->ranks();
        const rank_t target = plan_->receives.senders[source];
        if (target == no_rank || target == plan_->group->self()) continue;
        const std::uint32_t longest =
            *std::ranges::max_element(plan_->receives.counts_of(source, plan_->options.channels));
        if (longest == 0) continue;
        const std::size_t bytes = sends_input() ? 0 : longest * form_.row_bytes();
        returns_.push_back({source, target, space_.take_two(bytes), memory_for_folding()});
    }
    prepare_relays();
    prepare_collection();
    return space_.allocate();
}

void combine::add_input(stream_sum& sum, rank_t from, std::size_t list) {
    const bool zero_copy = from == plan_->group->self() && tensors_.expanded == nullptr;
    const std::size_t bytes = zero_copy ? 0 : sum.places->longest(list) * form_.row_bytes();
    sum.inputs.push_back({from, list, space_.take_two(bytes)});
}

void combine::prepare_sums(stream_sum& sum) const {
    sum.sums = sum_memory(sum.inputs.size());
    sum.own_sums = memory_for_folding();
}

void combine::prepare_relays() {
    const team& group = *plan_->group;
    const relay_plan& relays = plan_->relays;
    for (std::size_t s = 0; s < relays.streams.size(); ++s) {
        if (!relays.streams[s].relayed) continue;
        relay_stream one;
        one.stream = s;
        one.rows.source = relays.streams[s].source;
        one.rows.places = &relays.forwards;
        for (const rank_t rank : group.ranks_on(group.node()))
            add_input(one.rows, rank, relays.forward(group, s, group.index_of(rank)));
        prepare_sums(one.rows);
        const std::span<const std::uint32_t> counts = relays.counts_of(s, plan_->options.channels);
        one.results = space_.take_two(*std::ranges::max_element(counts) * form_.row_bytes());
        relays_.push_back(std::move(one));
    }
}

void combine::prepare_collection() {
    const send_plan& sends = plan_->sends;
    collection_ = {};
    collection_.source = plan_->group->self();
    collection_.places = &sends.tokens;
    for (std::size_t i = 0; i < sends.paths.size(); ++i)
        add_input(collection_, sends.paths[i].target, i);
    prepare_sums(collection_);
}

std::uint64_t combine::form() const noexcept {
    return init_status_ != UCS_OK ? 0 : form_.mixed_into(plan_->agreed()).not_zero();
}

task combine::run(member& me) noexcept {
    co_await require(me, init_status_);
    task_group all(relays_.size() + returns_.size() + 1);
    co_await require(me, all.status());
    all.add(collect(me, collection_));
    for (relay_stream& each : relays_)
        all.add(relay(me, each));
    for (return_stream& each : returns_)
        all.add(return_rows(me, each));
    co_await all;
}

// Sends the rows of one source's tokens back, one message for each channel (a range of tokens, see
// channels.hpp). While a message of one channel is sent from one buffer, the next message is
// written to the other.
task combine::return_rows(member& me, return_stream& stream) {
    const plan& plan = *plan_;
    const std::size_t list = std::size_t{stream.source} * plan.options.channels;
    const std::size_t row_bytes = form_.row_bytes();
    const const_matrix& x = tensors_.from[values];
    const bool inside = plan.group->node_of(stream.target) == plan.group->node();
    member on =
        me.on_channel(inside ? plan.group->channel_of(stream.source) : schedule::channel_t{0});
    std::array<flight, 2> moves;
    unsigned buffer = 0;
    for (std::uint32_t c = 0; c < plan.options.channels; ++c) {
        const std::uint32_t count = plan.receives.counts[list + c];
        const std::uint32_t first = plan.receives.begins[list + c];
        if (count == 0) continue;
        co_await moves[buffer];
        if (sends_input()) {
            moves[buffer].send(on, stream.target, x.row(first), count * row_bytes);
            buffer ^= 1U;
            continue;
        }
        std::byte* const message = space_.at(stream.messages[buffer]);
        if (tensors_.expanded != nullptr) {
            const fold_work work(form_.view(message, count), tensors_.from, *tensors_.expanded,
                                 first, count, stream.sums);
            co_await work.begin(me, count * row_bytes);
        } else {
            const gather_work work(form_.view(message, count), rows_from(first), selection(count));
            co_await work.begin(me, count * row_bytes);
        }
        moves[buffer].send(on, stream.target, message, count * row_bytes);
        buffer ^= 1U;
    }
    for (flight& each : moves)
        co_await each;
}

void combine::post_receives(member& me, const stream_sum& sum, flights& coming,
                            std::uint32_t channel, unsigned buffer) const noexcept {
    const team& group = *plan_->group;
    member inside = me.on_channel(group.channel_of(sum.source));
    for (std::size_t i = 0; i < sum.inputs.size(); ++i) {
        const auto& [from, list, messages] = sum.inputs[i];
        const std::size_t bytes = sum.places->size(list, channel) * form_.row_bytes();
        if (from == group.self() || bytes == 0) continue;
        member& on = group.node_of(from) == group.node() ? inside : me;
        coming[2 * i + buffer].receive(on, from, space_.at(messages[buffer]), bytes);
    }
}

task combine::await_rows(member& me, stream_sum& sum, flights& coming, std::uint32_t channel,
                         unsigned buffer) {
    const plan& plan = *plan_;
    sum.rows = 0;
    for (std::size_t i = 0; i < sum.inputs.size(); ++i) {
        const auto& [from, list, messages] = sum.inputs[i];
        const std::span<const std::uint32_t> places = sum.places->list(list, channel);
        const auto rows = static_cast<std::uint32_t>(places.size());
        const parts message = form_.view(space_.at(messages[buffer]), rows);
        sum.rows += rows;
        sum.sums.addends[i] = {constant(message), places};
        co_await coming[2 * i + buffer];
        if (from != plan.group->self() || rows == 0) continue;
        const std::uint32_t first =
            plan.receives.begins[std::size_t{sum.source} * plan.options.channels + channel];
        if (tensors_.expanded == nullptr) {
            sum.sums.addends[i].from = rows_from(first);
            continue;
        }
        const fold_work work(message, tensors_.from, *tensors_.expanded, first, rows, sum.own_sums);
        co_await work.begin(me, rows * form_.row_bytes());
    }
}

// As the relay of one source, adds up the rows that the ranks of this node have, and sends the sums
// to the source, channel by channel.
task combine::relay(member& me, relay_stream& relayed) {
    const plan& plan = *plan_;
    const std::size_t row_bytes = form_.row_bytes();
    const std::size_t addends = relayed.rows.inputs.size();
    flights coming(2 * addends);
    co_await require(me, coming.status());
    std::array<flight, 2> going;
    const auto post = [&](const channel_walk::position& position) {
        if (position.count != 0)
            post_receives(me, relayed.rows, coming, position.channel, position.buffer);
    };
    channel_walk walk(plan.relays.counts_of(relayed.stream, plan.options.channels));
    post(walk.current());
    for (; walk; ++walk) {
        post(walk.next());
        const auto [c, count, buffer] = walk.current();
        co_await await_rows(me, relayed.rows, coming, c, buffer);
        co_await going[buffer];
        std::byte* const result = space_.at(relayed.results[buffer]);
        const sum_work work(form_.view(result, count), relayed.rows.sums, addends, 0, count);
        co_await work.begin(me, relayed.rows.rows * row_bytes);
        going[buffer].send(me, relayed.rows.source, result, count * row_bytes);
    }
    for (flight& each : going)
        co_await each;
}

// Receives the rows of this rank's tokens and adds them up into the output, channel by channel.
task combine::collect(member& me, stream_sum& sum) {
    const plan& plan = *plan_;
    const channel_ranges& ranges = plan.sends.ranges;
    flights coming(2 * sum.inputs.size());
    co_await require(me, coming.status());
    const auto post = [&](std::uint32_t channel, unsigned buffer) {
        if (channel < plan.options.channels) post_receives(me, sum, coming, channel, buffer);
    };
    post(0, 0);
    for (std::uint32_t c = 0; c < plan.options.channels; ++c) {
        const unsigned buffer = c % 2;
        post(c + 1, buffer ^ 1U);
        co_await await_rows(me, sum, coming, c, buffer);
        const std::uint32_t begin = ranges.begin(c);
        const std::uint32_t end = ranges.end(c);
        const sum_work work(tensors_.into, sum.sums, sum.inputs.size(), begin, end, tensors_.bias);
        // Each token of the channel gets a result. If no rank received it, that is the sum of its
        // biases, or 0.
        co_await work.begin(me, std::max<std::size_t>(sum.rows, end - begin) * form_.row_bytes());
    }
}

}  // namespace ucg::moe
