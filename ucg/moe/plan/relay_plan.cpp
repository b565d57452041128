#include "ucg/moe/plan/plan.hpp"
#include "ucg/moe/plan/routes.hpp"

namespace ucg::moe {

ucs_status_t routes::check_header(rank_t source, std::uint64_t fingerprint) const noexcept {
    const ucs_status_t status = check(header_, source, fingerprint);
    if (status != UCS_OK) return status;
    bool fits = total() <= header_.tokens;
    for (const std::uint32_t count : targets())
        fits = fits && count <= header_.tokens;
    return fits ? UCS_OK : refuse_from(source, "more rows than it has tokens");
}

ucs_status_t relay_plan::make(const team& group, std::span<const routes> sources,
                              std::uint32_t channels) {
    std::uint64_t all = 0;
    forwards.resize(sources.size() * group.ranks_on(group.node()).size(), channels);
    const auto pass = [&](auto found) {
        for (std::size_t s = 0; s < sources.size(); ++s) {
            std::uint64_t record = 0;
            for (std::uint32_t c = 0; c < channels; ++c) {
                for (std::uint32_t place = 0; place < sources[s].count(c); ++place) {
                    for_each_rank(group, sources[s].experts(record++), [&](rank_t rank) {
                        if (group.node_of(rank) == group.node())
                            found(forward(group, s, group.index_of(rank)), c, place);
                    });
                }
            }
        }
    };
    for (const routes& each : sources) {
        streams.push_back({each.source(), each.relayed()});
        for (std::uint32_t c = 0; c < channels; ++c)
            counts.push_back(each.count(c));
        all += each.total();
    }
    if (all > INT32_MAX) return UCS_ERR_EXCEEDS_LIMIT;
    pass([&](std::size_t owner, std::uint32_t c, std::uint32_t) { forwards.count(owner, c); });
    forwards.open();
    pass([&](std::size_t owner, std::uint32_t c, std::uint32_t place) {
        forwards.add(owner, c, place);
    });
    forwards.close();
    return UCS_OK;
}

}  // namespace ucg::moe
