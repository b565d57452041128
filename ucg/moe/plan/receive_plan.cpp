#include <algorithm>

#include "ucg/moe/plan/plan.hpp"

namespace ucg::moe {

ucs_status_t receive_plan::make(const team& group, std::span<const routes> all,
                                std::uint32_t channels, std::uint32_t choices_per_token) {
    k = choices_per_token;
    senders.resize(group.ranks(), no_rank);
    counts.resize(std::size_t{group.ranks()} * channels);
    begins.resize(counts.size());
    per_expert.resize(group.local_experts());
    for (const routes& source_routes : all) {
        const rank_t source = source_routes.source();
        const bool by_relay = source_routes.relayed() && group.node_of(source) != group.node();
        senders[source] = by_relay ? group.relay(source, group.node()) : source;
        for (std::uint32_t c = 0; c < channels; ++c)
            counts[std::size_t{source} * channels + c] = source_routes.count(c);
    }
    std::uint64_t row = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        begins[i] = static_cast<std::uint32_t>(row);
        row += counts[i];
        if (row > INT32_MAX) return UCS_ERR_EXCEEDS_LIMIT;
    }
    rows = static_cast<std::uint32_t>(row);
    origins.resize(rows);
    chosen.resize(std::size_t{rows} * k);
    for (const routes& source_routes : all)
        add_rows(group, source_routes, channels);
    return UCS_OK;
}

void receive_plan::find_holders(const team& group, std::span<const routes> all,
                                std::uint32_t channels) {
    const std::size_t ranks_here = group.ranks_on(group.node()).size();
    holders.resize(std::size_t{rows} * ranks_here);
    for (const routes& source_routes : all) {
        const std::size_t first = begins[std::size_t{source_routes.source()} * channels];
        for (std::uint64_t i = 0; i < source_routes.total(); ++i)
            for_each_rank(group, source_routes.experts(i), [&](rank_t rank) {
                if (group.node_of(rank) == group.node())
                    holders[(first + i) * ranks_here + group.index_of(rank)] = 1;
            });
    }
}

void receive_plan::add_rows(const team& group, const routes& source_routes,
                            std::uint32_t channels) {
    std::size_t row = begins[std::size_t{source_routes.source()} * channels];
    for (std::uint64_t i = 0; i < source_routes.total(); ++i, ++row) {
        origins[row] = {source_routes.source(), source_routes.token(i)};
        for (std::uint32_t j = 0; j < k; ++j) {
            const expert_t expert = source_routes.experts(i)[j];
            const bool is_local = expert != choices::none && group.rank_of(expert) == group.self();
            const expert_t local_expert = is_local ? group.local(expert) : choices::none;
            chosen[row * k + j] = local_expert;
            if (is_local) ++per_expert[static_cast<std::size_t>(local_expert)];
        }
    }
}

namespace {

// This rank can verify only the count for itself and the counts for masked ranks.
bool is_valid(const team& group, const routes& source_routes) noexcept {
    bool fits = source_routes.targets()[group.self()] == source_routes.total();
    for (rank_t rank = 0; rank < group.ranks(); ++rank)
        fits = fits && (group.is_alive(rank) || source_routes.targets()[rank] == 0);
    return fits;
}

}  // namespace

ucs_status_t group_counts::make(const team& group, std::span<const routes> all) {
    const std::size_t ranks = group.ranks();
    std::vector<std::uint64_t> sums(ranks);
    counts.resize(ranks * ranks);
    for (const routes& source_routes : all) {
        if (!is_valid(group, source_routes))
            return refuse_from(source_routes.source(), "wrong counts of rows");
        const std::span<const std::uint32_t> targets = source_routes.targets();
        std::ranges::copy(targets, counts.begin() + std::ptrdiff_t{source_routes.source()} *
                                                        static_cast<std::ptrdiff_t>(ranks));
        for (std::size_t rank = 0; rank < ranks; ++rank)
            sums[rank] += targets[rank];
    }
    const auto too_many = [](std::uint64_t sum) { return sum > INT32_MAX; };
    return std::ranges::any_of(sums, too_many) ? UCS_ERR_EXCEEDS_LIMIT : UCS_OK;
}

}  // namespace ucg::moe
