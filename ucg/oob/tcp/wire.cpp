#include "ucg/oob/tcp/wire.hpp"

#include <algorithm>

#include "ucs/wire/codec.hpp"

namespace ucg::oob::wire {
namespace {

using ucs::wire::reader;
using ucs::wire::writer;

bool has_valid_length(const header& head) noexcept {
    switch (head.kind) {
        case frame_kind::hello:
        case frame_kind::welcome:
        case frame_kind::late:
        case frame_kind::withdrawn:
            return head.content == 0;
        case frame_kind::published:
            return head.content != 0 && head.content <= max_published;
        case frame_kind::lookup:
            return head.content == sizeof(rank_t);
        case frame_kind::reply:
            return head.content >= reply_head::size &&
                   head.content <= reply_head::size + max_published;
        case frame_kind::block:
        case frame_kind::blocks:
            return head.content <= header::max_content;
        case frame_kind::failure:
            return head.content >= 8 && head.content <= failure::max_bytes && head.content % 4 == 0;
    }
    return false;
}

}  // namespace

failure make_failure(ucs_status_t status, std::span<const rank_t> culprits) {
    const auto first = culprits.first(std::min(culprits.size(), failure::max_listed));
    return {status, static_cast<std::uint32_t>(culprits.size()), {first.begin(), first.end()}};
}

void pack(const header& from, std::span<std::byte, header::size> into) noexcept {
    writer(into).put(from);
}

std::optional<header> parse(std::span<const std::byte, header::size> bytes) noexcept {
    const header found = reader(bytes).get<header>();
    if (found.magic != header().magic || found.version != header().version) return {};
    if (found.from >= found.ranks || !has_valid_length(found)) return {};
    return found;
}

std::size_t pack(const failure& from, std::span<std::byte, failure::max_bytes> into) noexcept {
    writer out(into);
    out.put(static_cast<std::int32_t>(from.status)).put(from.count);
    for (std::size_t i = 0; i < std::min(from.first.size(), failure::max_listed); ++i)
        out.put(from.first[i]);
    return out.size();
}

std::optional<failure> parse_failure(std::span<const std::byte> bytes, rank_t ranks) {
    if (bytes.size() < 8 || bytes.size() > failure::max_bytes || bytes.size() % 4 != 0) return {};
    reader in(bytes);
    const auto status = in.get<std::int32_t>();
    failure found{.status = UCS_ERR_IO_ERROR, .count = in.get<std::uint32_t>()};
    if (status >= UCS_OK || status <= UCS_ERR_LAST || found.count > ranks) return {};
    found.status = static_cast<ucs_status_t>(status);
    while (in.left() > 0) {
        const auto rank = in.get<rank_t>();
        if (rank >= ranks || (!found.first.empty() && rank <= found.first.back())) return {};
        found.first.push_back(rank);
    }
    if (found.first.size() > found.count) return {};
    return found;
}

void pack(const reply_head& from, std::span<std::byte, reply_head::size> into) noexcept {
    writer(into).put(static_cast<std::int32_t>(from.status)).put(from.rank);
}

std::optional<reply_head> parse_reply(std::span<const std::byte, reply_head::size> bytes,
                                      rank_t ranks) noexcept {
    reader in(bytes);
    const auto status = in.get<std::int32_t>();
    const auto rank = in.get<rank_t>();
    if (status > UCS_OK || status <= UCS_ERR_LAST || rank >= ranks) return {};
    return reply_head{static_cast<ucs_status_t>(status), rank};
}

void pack_lookup(rank_t rank, std::span<std::byte, sizeof(rank_t)> into) noexcept {
    writer(into).put(rank);
}

rank_t parse_lookup(std::span<const std::byte, sizeof(rank_t)> bytes) noexcept {
    return reader(bytes).get<rank_t>();
}

}  // namespace ucg::oob::wire
