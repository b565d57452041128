#include "ucg/moe/normal/notify.hpp"

#include <new>
#include <utility>

#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::moe {

namespace {

std::span<const std::uint32_t> row(const std::vector<std::uint32_t>& counts, std::size_t i,
                                   std::uint32_t channels) noexcept {
    return std::span(counts).subspan(i * channels, channels);
}

// Returns, for each living rank of this node by index, the living ranks that use it as their relay.
std::vector<std::vector<rank_t>> sources_of_relays(const team& group) {
    std::vector<std::vector<rank_t>> made(group.ranks_on(group.node()).size());
    for (rank_t source = 0; source < group.ranks(); ++source)
        if (group.is_alive(source))
            made[group.index_of(group.relay(source, group.node()))].push_back(source);
    return made;
}

}  // namespace

ucs_status_t notify::init(std::shared_ptr<const team> group, const const_matrix& topk,
                          const settings& options) noexcept {
    init_status_ =
        ucs::boundary(moe_log, "notify", [&] { return prepare(std::move(group), topk, options); });
    return init_status_;
}

ucs_status_t notify::prepare(std::shared_ptr<const team> group, const const_matrix& topk,
                             const settings& options) {
    if (group == nullptr || options.channels == 0 || options.channels > settings::max_channels ||
        !(options.token_bytes >= 0) || !(options.costs.ports > 0)) {
        ucs::log::error(moe_log, "{} channels are not supported: give 1 to {}", options.channels,
                        settings::max_channels);
        return UCS_ERR_INVALID_PARAM;
    }
    ucs::result<choices> chosen = choices::make(*group, topk);
    if (!chosen) return chosen.status();
    made_ = std::make_shared<plan>();
    made_->group = std::move(group);
    made_->options = options;
    made_->chosen = *std::move(chosen);
    made_->sends = send_plan::make(*made_->group, made_->chosen, options);
    pack_for_nodes();
    return UCS_OK;
}

header_form notify::message_form() const noexcept {
    return {made_->options.channels, made_->chosen.k(),
            made_->options.all_counts ? made_->group->ranks() : 0};
}

// Returns the number of tokens to each rank, or nothing if settings::all_counts is not set.
std::vector<std::uint32_t> notify::targets() const {
    std::vector<std::uint32_t> made(message_form().targets);
    for (rank_t rank = 0; rank < made.size(); ++rank)
        for (const std::uint32_t count : row(made_->sends.to_rank, rank, made_->options.channels))
            made[rank] += count;
    return made;
}

void notify::pack_for_nodes() {
    const team& group = *made_->group;
    const std::uint32_t channels = made_->options.channels;
    const header_form form = message_form();
    const std::vector<std::uint32_t> to_all = targets();
    first_ = {};
    for (const rank_t source : group.sources())
        if (group.node_of(source) != group.node())
            first_.in.emplace_back(source, std::span(&source, 1), form);
    const rank_t self = group.self();
    first_.out.reserve(group.nodes());
    std::vector<notify_message*> message_to(group.nodes());
    for (rank_t i = 0; i < group.nodes(); ++i) {
        const rank_t node =
            (group.node() + i) % group.nodes();  // each rank begins with another node
        if (group.ranks_on(node).empty()) continue;
        std::vector<notify_message>& list = i == 0 ? first_.own : first_.out;
        list.emplace_back(group.relay(self, node), std::span(&self, 1), form);
        message_to[node] = &list.back();
        const route_header header{route_header::version, self, agreed().value(),
                                  made_->chosen.tokens(), made_->sends.relayed[node]};
        message_to[node]->put_header(0, header, row(made_->sends.to_node, node, channels), to_all);
        message_to[node]->allocate_records();
    }
    std::vector<std::uint32_t> last(group.nodes());  // last token put for each node, plus 1
    for (std::uint32_t token = 0; token < made_->chosen.tokens(); ++token) {
        const std::span<const expert_t> experts = made_->chosen.experts_of(token);
        for_each_rank(group, experts, [&](rank_t rank) {
            const rank_t node = group.node_of(rank);
            if (std::exchange(last[node], token + 1) != token + 1)
                message_to[node]->put_record(token, experts);
        });
    }
}

// Runs between the two hops: checks the received routes, and packs them for the ranks of this node
// that get tokens of them.
ucs_status_t notify::forward_routes() noexcept try {
    const team& group = *made_->group;
    const auto is_on_this_node = [&](rank_t rank) { return group.node_of(rank) == group.node(); };
    std::vector<routes> all;
    auto next = first_.in.begin();
    for (const rank_t source : group.sources()) {
        notify_message& from = source == group.self() ? first_.own.front() : *next++;
        const ucs_status_t status = from.check_records(group, is_on_this_node);
        if (status != UCS_OK) return status;
        all.push_back(from.routes_by_source().front());
    }
    const ucs_status_t status = made_->relays.make(group, all, made_->options.channels);
    if (status != UCS_OK) return status;
    pack_for_ranks(all);
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

void notify::pack_for_ranks(std::span<const routes> all) {
    const team& group = *made_->group;
    const relay_plan& relays = made_->relays;
    const std::uint32_t channels = made_->options.channels;
    const std::vector<std::vector<rank_t>> sources = sources_of_relays(group);
    second_ = {};
    const auto ranks_here = static_cast<rank_t>(sources.size());
    std::vector<std::uint32_t> counts(channels);
    for (rank_t i = 0; i < ranks_here; ++i) {
        const rank_t index = (group.index_of(group.self()) + i) % ranks_here;
        const rank_t peer = group.ranks_on(group.node())[index];
        if (i != 0) second_.in.emplace_back(peer, sources[index], message_form());
        std::vector<notify_message>& list = i == 0 ? second_.own : second_.out;
        notify_message& out = list.emplace_back(peer, group.sources(), message_form());
        for (std::size_t s = 0; s < all.size(); ++s) {
            for (std::uint32_t c = 0; c < channels; ++c)
                counts[c] = relays.forwards.size(relays.forward(group, s, index), c);
            out.put_header(s, all[s].header(), counts, all[s].targets());
        }
        out.allocate_records();
        for (std::size_t s = 0; s < all.size(); ++s) {
            std::uint64_t begin = 0;
            for (std::uint32_t c = 0; c < channels; begin += all[s].count(c++))
                for (const std::uint32_t place :
                     relays.forwards.list(relays.forward(group, s, index), c))
                    out.put_record(all[s].token(begin + place), all[s].experts(begin + place));
        }
    }
}

ucs_status_t notify::finish() noexcept try {
    const team& group = *made_->group;
    const auto is_self = [&](rank_t rank) { return rank == group.self(); };
    std::vector<routes> all;
    const auto take = [&](notify_message& from) {
        const ucs_status_t status = from.check_records(group, is_self);
        if (status == UCS_OK)
            all.insert(all.end(), from.routes_by_source().begin(), from.routes_by_source().end());
        return status;
    };
    ucs_status_t status = take(second_.own.front());
    for (std::size_t i = 0; i < second_.in.size() && status == UCS_OK; ++i)
        status = take(second_.in[i]);
    if (status != UCS_OK) return status;
    status = made_->receives.make(group, all, made_->options.channels, made_->chosen.k());
    if (status == UCS_OK && made_->options.holders)
        made_->receives.find_holders(group, all, made_->options.channels);
    if (status == UCS_OK && made_->options.all_counts) status = made_->all_counts.make(group, all);
    first_ = {};
    second_ = {};
    return status;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

std::uint64_t notify::form() const noexcept {
    return init_status_ != UCS_OK || made_ == nullptr ? 0 : agreed().not_zero();
}

task notify::run(member& me) noexcept {
    // The messages can be sent only once, so a second start of the operation fails.
    const ucs_status_t refused = std::exchange(init_status_, UCS_ERR_INVALID_PARAM);
    co_await require(me, refused);
    const std::uint64_t fingerprint = agreed().value();
    co_await exchange(me, first_, fingerprint);
    co_await require(me, forward_routes());
    co_await exchange(me, second_, fingerprint);
    co_await require(me, finish());
}

}  // namespace ucg::moe
