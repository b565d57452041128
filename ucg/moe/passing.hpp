// What a rank passes on as a relay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/lists.hpp"
#include "ucg/moe/routes.hpp"

namespace ucg::moe {

// The tokens of each source that has this rank as its relay. The rank is one of them itself, and
// others may be that send their data directly (`relayed` is false): what they send is known here
// nevertheless. Value, immutable once made.
struct passing {
    struct stream {
        rank_t source;
        bool relayed;
    };
    std::vector<stream> streams;        // as team::sources()
    std::vector<std::uint32_t> counts;  // [streams, channels] tokens to this node
    // For (stream, rank of this node) and channel: places, among the tokens that come in this
    // channel, of those that go to this rank.
    lists forwards;

    // Of routes that were checked. UCS_ERR_EXCEEDS_LIMIT: more tokens than can be numbered.
    // std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& of, std::span<const routes> from,
                                    std::uint32_t channels);
    [[nodiscard]] std::span<const std::uint32_t> counts_of(std::size_t of_stream,
                                                           std::uint32_t channels) const noexcept {
        return std::span(counts).subspan(of_stream * channels, channels);
    }
    [[nodiscard]] std::size_t forward(const team& of, std::size_t of_stream,
                                      rank_t index) const noexcept {
        return of_stream * of.on(of.node()).size() + index;
    }
};

}  // namespace ucg::moe
