#include "ucg/moe/arriving.hpp"

namespace ucg::moe {

ucs_status_t arriving::make(const team& of, std::span<const routes> all, std::uint32_t channels,
                            std::uint32_t choices_per_token) {
    k = choices_per_token;
    from.resize(of.ranks(), nobody);
    counts.resize(std::size_t{of.ranks()} * channels);
    begins.resize(counts.size());
    per_expert.resize(of.local_experts());
    for (const routes& each : all) {
        const rank_t source = each.source();
        const bool by_relay = each.relayed() && of.node_of(source) != of.node();
        from[source] = by_relay ? of.relay(source, of.node()) : source;
        for (std::uint32_t c = 0; c < channels; ++c)
            counts[std::size_t{source} * channels + c] = each.count(c);
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
    for (const routes& each : all)
        take(of, each, channels);
    return UCS_OK;
}

void arriving::find_holders(const team& of, std::span<const routes> all, std::uint32_t channels) {
    const std::size_t here = of.on(of.node()).size();
    holders.resize(std::size_t{rows} * here);
    for (const routes& each : all) {
        const std::size_t first = begins[std::size_t{each.source()} * channels];
        for (std::uint64_t i = 0; i < each.total(); ++i)
            for_each_rank(of, each.experts(i), [&](rank_t rank) {
                if (of.node_of(rank) == of.node())
                    holders[(first + i) * here + of.index_of(rank)] = 1;
            });
    }
}

void arriving::take(const team& of, const routes& each, std::uint32_t channels) {
    std::size_t row = begins[std::size_t{each.source()} * channels];
    for (std::uint64_t i = 0; i < each.total(); ++i, ++row) {
        origins[row] = {each.source(), each.token(i)};
        for (std::uint32_t j = 0; j < k; ++j) {
            const expert_t expert = each.experts(i)[j];
            const bool is_here = expert != choices::none && of.rank_of(expert) == of.self();
            const expert_t here = is_here ? of.local(expert) : choices::none;
            chosen[row * k + j] = here;
            if (is_here) ++per_expert[static_cast<std::size_t>(here)];
        }
    }
}

}  // namespace ucg::moe
