#include "ucg/moe/notify.hpp"

#include <new>
#include <utility>

#include "ucg/moe/log.hpp"

namespace ucg::moe {

using schedule::member;
using schedule::require;
using schedule::task;

namespace {

std::span<const std::uint32_t> row(const std::vector<std::uint32_t>& of, std::size_t i,
                                   std::uint32_t channels) noexcept {
    return std::span(of).subspan(i * channels, channels);
}

// The living ranks for which each rank of this node is the relay, by the relay's index.
std::vector<std::vector<rank_t>> sources_of_relays(const team& of) {
    std::vector<std::vector<rank_t>> made(of.on(of.node()).size());
    for (rank_t source = 0; source < of.ranks(); ++source)
        if (of.lives(source)) made[of.index_of(of.relay(source, of.node()))].push_back(source);
    return made;
}

}  // namespace

ucs_status_t notify::init(std::shared_ptr<const team> of, const const_matrix& topk,
                          const settings& by) noexcept {
    try {
        refused_ = prepare(std::move(of), topk, by);
    } catch (const std::bad_alloc&) {
        refused_ = UCS_ERR_NO_MEMORY;
    }
    return refused_;
}

ucs_status_t notify::prepare(std::shared_ptr<const team> of, const const_matrix& topk,
                             const settings& by) {
    if (of == nullptr || by.channels == 0 || by.channels > settings::most_channels ||
        !(by.token_bytes >= 0) || !(by.costs.ports > 0)) {
        ucs::log::error(moe_log, "{} channels cannot be made: give 1 to {}", by.channels,
                        settings::most_channels);
        return UCS_ERR_INVALID_PARAM;
    }
    ucs::result<choices> chosen = choices::make(*of, topk);
    if (!chosen) return chosen.status();
    made_ = std::make_shared<plan>();
    made_->of = std::move(of);
    made_->by = by;
    made_->chosen = *std::move(chosen);
    made_->out = outgoing::make(*made_->of, made_->chosen, by);
    pack_for_nodes();
    return UCS_OK;
}

route_form notify::lengths() const noexcept {
    return {made_->by.channels, made_->chosen.k(), made_->by.all_counts ? made_->of->ranks() : 0};
}

// Tokens to each rank, where ranks tell each other.
std::vector<std::uint32_t> notify::targets() const {
    std::vector<std::uint32_t> made(lengths().targets);
    for (rank_t rank = 0; rank < made.size(); ++rank)
        for (const std::uint32_t count : row(made_->out.to_rank, rank, made_->by.channels))
            made[rank] += count;
    return made;
}

void notify::pack_for_nodes() {
    const team& of = *made_->of;
    const std::uint32_t channels = made_->by.channels;
    const route_form form = lengths();
    const std::vector<std::uint32_t> to_all = targets();
    first_ = {};
    for (const rank_t source : of.sources())
        if (of.node_of(source) != of.node())
            first_.in.emplace_back(source, std::span(&source, 1), form);
    const rank_t self = of.self();
    first_.out.reserve(of.nodes());
    std::vector<parcel*> to(of.nodes());
    for (rank_t i = 0; i < of.nodes(); ++i) {
        const rank_t node = (of.node() + i) % of.nodes();  // so that not all begin with the same
        if (of.on(node).empty()) continue;
        std::vector<parcel>& list = i == 0 ? first_.own : first_.out;
        list.emplace_back(of.relay(self, node), std::span(&self, 1), form);
        to[node] = &list.back();
        const route_header head{route_header::version, self, agreed().value(),
                                made_->chosen.tokens(), made_->out.relayed[node]};
        to[node]->put_header(0, head, row(made_->out.to_node, node, channels), to_all);
        to[node]->make_room();
    }
    std::vector<std::uint32_t> last(of.nodes());  // the last token put, plus 1
    for (std::uint32_t token = 0; token < made_->chosen.tokens(); ++token) {
        const std::span<const expert_t> experts = made_->chosen.of(token);
        for_each_rank(of, experts, [&](rank_t rank) {
            const rank_t node = of.node_of(rank);
            if (std::exchange(last[node], token + 1) != token + 1)
                to[node]->put_record(token, experts);
        });
    }
}

// Between the hops: what the sources said goes to the ranks of this node that it is meant for.
ucs_status_t notify::pass_on() noexcept try {
    const team& of = *made_->of;
    const auto here = [&](rank_t rank) { return of.node_of(rank) == of.node(); };
    std::vector<routes> all;
    auto next = first_.in.begin();
    for (const rank_t source : of.sources()) {
        parcel& from = source == of.self() ? first_.own.front() : *next++;
        const ucs_status_t status = from.take_records(of, here);
        if (status != UCS_OK) return status;
        all.push_back(from.said().front());
    }
    const ucs_status_t status = made_->through.make(of, all, made_->by.channels);
    if (status != UCS_OK) return status;
    pack_for_ranks(all);
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

void notify::pack_for_ranks(std::span<const routes> all) {
    const team& of = *made_->of;
    const passing& through = made_->through;
    const std::uint32_t channels = made_->by.channels;
    const std::vector<std::vector<rank_t>> sources = sources_of_relays(of);
    second_ = {};
    const auto here = static_cast<rank_t>(sources.size());
    std::vector<std::uint32_t> counts(channels);
    for (rank_t i = 0; i < here; ++i) {
        const rank_t index = (of.index_of(of.self()) + i) % here;
        const rank_t with = of.on(of.node())[index];
        if (i != 0) second_.in.emplace_back(with, sources[index], lengths());
        std::vector<parcel>& list = i == 0 ? second_.own : second_.out;
        parcel& out = list.emplace_back(with, of.sources(), lengths());
        for (std::size_t s = 0; s < all.size(); ++s) {
            for (std::uint32_t c = 0; c < channels; ++c)
                counts[c] = through.forwards.size(through.forward(of, s, index), c);
            out.put_header(s, all[s].header(), counts, all[s].targets());
        }
        out.make_room();
        for (std::size_t s = 0; s < all.size(); ++s) {
            std::uint64_t begin = 0;
            for (std::uint32_t c = 0; c < channels; begin += all[s].count(c++))
                for (const std::uint32_t place :
                     through.forwards.of(through.forward(of, s, index), c))
                    out.put_record(all[s].token(begin + place), all[s].experts(begin + place));
        }
    }
}

ucs_status_t notify::finish() noexcept try {
    const team& of = *made_->of;
    const auto mine = [&](rank_t rank) { return rank == of.self(); };
    std::vector<routes> all;
    const auto take = [&](parcel& from) {
        const ucs_status_t status = from.take_records(of, mine);
        if (status == UCS_OK) all.insert(all.end(), from.said().begin(), from.said().end());
        return status;
    };
    ucs_status_t status = take(second_.own.front());
    for (std::size_t i = 0; i < second_.in.size() && status == UCS_OK; ++i)
        status = take(second_.in[i]);
    if (status != UCS_OK) return status;
    status = made_->in.make(of, all, made_->by.channels, made_->chosen.k());
    if (status == UCS_OK && made_->by.holders) made_->in.find_holders(of, all, made_->by.channels);
    if (status == UCS_OK && made_->by.all_counts) status = made_->among.make(of, all);
    first_ = {};
    second_ = {};
    return status;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

std::uint64_t notify::form() const noexcept {
    return refused_ != UCS_OK || made_ == nullptr ? 0 : agreed().not_zero();
}

task notify::run(member& me) noexcept {
    return run_both(me, *this);
}

task notify::run_both(member& me, notify& what) {
    // What is sent is used up: a second start would have nothing to say.
    const ucs_status_t refused = std::exchange(what.refused_, UCS_ERR_INVALID_PARAM);
    co_await require(me, refused);
    const std::uint64_t fingerprint = what.agreed().value();
    co_await exchange(me, what.first_, fingerprint);
    co_await require(me, what.pass_on());
    co_await exchange(me, what.second_, fingerprint);
    co_await require(me, what.finish());
}

}  // namespace ucg::moe
