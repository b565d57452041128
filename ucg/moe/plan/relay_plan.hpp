// The relay plan of a rank: which tokens it forwards as a relay to the ranks of its node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/plan/lists.hpp"
#include "ucg/moe/plan/routes.hpp"

namespace ucg::moe {

// The tokens of each source that has this rank as its relay, including this rank itself. A source
// may send its data directly (`relayed` is false); its routes pass the relay nevertheless. A value
// that is immutable once made.
struct relay_plan {
    struct stream {
        rank_t source;
        bool relayed;
    };
    std::vector<stream> streams;        // in the order of team::sources()
    std::vector<std::uint32_t> counts;  // [streams, channels] tokens to this node
    // For each (stream, rank of this node) and channel: the indices, among the tokens of the
    // channel, of the tokens that go to the rank.
    lists forwards;

    // `sources` are checked routes. UCS_ERR_EXCEEDS_LIMIT: there are more tokens than can be
    // numbered. Throws std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& group, std::span<const routes> sources,
                                    std::uint32_t channels);
    [[nodiscard]] std::span<const std::uint32_t> counts_of(std::size_t stream_index,
                                                           std::uint32_t channels) const noexcept {
        return std::span(counts).subspan(stream_index * channels, channels);
    }
    [[nodiscard]] std::size_t forward(const team& group, std::size_t stream_index,
                                      rank_t rank_index) const noexcept {
        return stream_index * group.ranks_on(group.node()).size() + rank_index;
    }
};

}  // namespace ucg::moe
