#include "ucg/moe/passing.hpp"

namespace ucg::moe {

ucs_status_t passing::make(const team& of, std::span<const routes> from, std::uint32_t channels) {
    std::uint64_t all = 0;
    forwards.resize(from.size() * of.on(of.node()).size(), channels);
    const auto pass = [&](auto found) {
        for (std::size_t s = 0; s < from.size(); ++s) {
            std::uint64_t record = 0;
            for (std::uint32_t c = 0; c < channels; ++c) {
                for (std::uint32_t place = 0; place < from[s].count(c); ++place) {
                    for_each_rank(of, from[s].experts(record++), [&](rank_t rank) {
                        if (of.node_of(rank) == of.node())
                            found(forward(of, s, of.index_of(rank)), c, place);
                    });
                }
            }
        }
    };
    for (const routes& each : from) {
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
