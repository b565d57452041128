// The plan of one routing: everything that dispatch and combine must know before data moves. The
// handle of the C API holds one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ucg/moe/plan/channels.hpp"
#include "ucg/moe/plan/choices.hpp"
#include "ucg/moe/plan/lists.hpp"
#include "ucg/moe/plan/routes.hpp"
#include "ucg/moe/settings.hpp"

namespace ucg::moe {

// The tokens that this rank sends to one target: those that the target gets itself or, if it is a
// relay, those that any rank of its node gets.
struct path {
    rank_t target = 0;
    bool relayed = false;
    // Sort key of paths, and so the order in which combine adds up: the target or, for a relay, the
    // lowest rank of its node.
    rank_t order = 0;
};

// A value, immutable once made.
struct send_plan {
    channel_ranges ranges{0, 1, 1};
    std::vector<std::uint32_t> to_node;  // [nodes, channels] tokens; each counts once
    std::vector<std::uint32_t> to_rank;  // [ranks, channels] tokens
    std::vector<std::uint8_t> relayed;   // [nodes] 1: over a relay; 0 for the own node
    std::vector<path> paths;             // paths with tokens, including the one to this rank
    lists tokens;                        // tokens of each path and channel, ascending

    // Throws std::bad_alloc.
    [[nodiscard]] static send_plan make(const team& group, const choices& chosen,
                                        const settings& options);
    // Input of the cost prediction for a node.
    [[nodiscard]] traffic traffic_to(const team& group, const settings& options,
                                     rank_t node) const noexcept;

private:
    void count(const team& group, const choices& chosen, std::uint32_t channels);
    void choose_routes(const team& group, const settings& options);
    void list(const team& group, const choices& chosen, std::uint32_t channels);
};

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

// Rows are sorted by source rank, then by token. A value that is immutable once made.
struct receive_plan {
    struct origin {
        rank_t source;
        std::uint32_t token;
    };
    std::uint32_t rows = 0;
    std::uint32_t k = 0;
    std::vector<rank_t> senders;  // [ranks] the rank that sends a source's rows; no_rank: masked
    std::vector<std::uint32_t> counts;  // [ranks, channels] rows
    std::vector<std::uint32_t> begins;  // [ranks, channels] first row
    std::vector<origin> origins;        // [rows]
    std::vector<expert_t> chosen;  // [rows, k] local number of the expert; none: of another rank
    std::vector<std::uint32_t> per_expert;  // [local experts] choices
    // [rows, living ranks of this node] 1: the rank gets the row's token as well. Empty if
    // settings::holders is not set.
    std::vector<std::uint8_t> holders;

    // `all` are checked routes in any order, one for each living rank. UCS_ERR_EXCEEDS_LIMIT: there
    // are more rows than can be numbered. Throws std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& group, std::span<const routes> all,
                                    std::uint32_t channels, std::uint32_t choices_per_token);
    // Fills `holders`.
    void find_holders(const team& group, std::span<const routes> all, std::uint32_t channels);
    [[nodiscard]] std::span<const std::uint32_t> counts_of(rank_t source,
                                                           std::uint32_t channels) const noexcept {
        return std::span(counts).subspan(std::size_t{source} * channels, channels);
    }

private:
    void add_rows(const team& group, const routes& source_routes, std::uint32_t channels);
};

// The size is quadratic in the number of ranks. So counts are exchanged only if the program asks
// for them (settings::all_counts). A value that is immutable once made.
struct group_counts {
    std::vector<std::uint32_t> counts;  // [source, target] tokens; empty: not asked for

    // `all` are checked routes, one for each living rank. UCS_ERR_IO_ERROR: a source sends this
    // rank another number of tokens than it says, or sends tokens to a masked rank.
    // UCS_ERR_EXCEEDS_LIMIT: a rank receives more rows than can be numbered. Throws std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& group, std::span<const routes> all);
};

// Notify makes the plan. One plan serves any number of dispatches and combines, and does not refer
// to the memory of the caller's top-k matrix. Immutable; any thread.
struct plan {
    std::shared_ptr<const team> group;
    settings options;
    choices chosen;
    send_plan sends;
    relay_plan relays;
    receive_plan receives;
    group_counts all_counts;

    [[nodiscard]] form_hash agreed() const noexcept {
        return group->agreed().with(options.channels, chosen.k());
    }
};

}  // namespace ucg::moe
