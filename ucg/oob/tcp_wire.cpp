#include "ucg/oob/tcp_wire.hpp"

#include <algorithm>

namespace ucg::oob::wire {
namespace {

constexpr std::uint32_t magic = 0x424f4f48;
constexpr std::uint16_t version = 2;

template<class Number>
void put(std::byte* into, Number value) noexcept {
    for (std::size_t i = 0; i < sizeof value; ++i)
        into[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}

template<class Number>
Number get(const std::byte* from) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    return static_cast<Number>(value);
}

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
    put(&into[0], magic);
    put(&into[4], version);
    put(&into[6], static_cast<std::uint16_t>(from.kind));
    put(&into[8], from.from);
    put(&into[12], from.ranks);
    put(&into[16], from.job);
    put(&into[24], from.round);
    put(&into[32], from.content);
}

std::optional<header> parse(std::span<const std::byte, header::size> bytes) noexcept {
    if (get<std::uint32_t>(&bytes[0]) != magic || get<std::uint16_t>(&bytes[4]) != version)
        return {};
    const header found{static_cast<frame_kind>(get<std::uint16_t>(&bytes[6])),
                       get<rank_t>(&bytes[8]),
                       get<rank_t>(&bytes[12]),
                       get<std::uint64_t>(&bytes[16]),
                       get<std::uint64_t>(&bytes[24]),
                       get<std::uint64_t>(&bytes[32])};
    if (found.from >= found.ranks || !has_valid_length(found)) return {};
    return found;
}

std::size_t pack(const failure& from, std::span<std::byte, failure::max_bytes> into) noexcept {
    put(&into[0], static_cast<std::int32_t>(from.status));
    put(&into[4], from.count);
    const std::size_t listed = std::min(from.first.size(), failure::max_listed);
    for (std::size_t i = 0; i < listed; ++i)
        put(&into[8 + 4 * i], from.first[i]);
    return 8 + 4 * listed;
}

std::optional<failure> parse_failure(std::span<const std::byte> bytes, rank_t ranks) {
    if (bytes.size() < 8 || bytes.size() > failure::max_bytes || bytes.size() % 4 != 0) return {};
    const auto status = get<std::int32_t>(&bytes[0]);
    failure found{.status = UCS_ERR_IO_ERROR, .count = get<std::uint32_t>(&bytes[4])};
    if (status >= UCS_OK || status <= UCS_ERR_LAST || found.count > ranks) return {};
    found.status = static_cast<ucs_status_t>(status);
    for (std::size_t offset = 8; offset < bytes.size(); offset += 4) {
        const auto rank = get<rank_t>(&bytes[offset]);
        if (rank >= ranks || (!found.first.empty() && rank <= found.first.back())) return {};
        found.first.push_back(rank);
    }
    if (found.first.size() > found.count) return {};
    return found;
}

void pack(const reply_head& from, std::span<std::byte, reply_head::size> into) noexcept {
    put(&into[0], static_cast<std::int32_t>(from.status));
    put(&into[4], from.rank);
}

std::optional<reply_head> parse_reply(std::span<const std::byte, reply_head::size> bytes,
                                      rank_t ranks) noexcept {
    const auto status = get<std::int32_t>(&bytes[0]);
    const auto rank = get<rank_t>(&bytes[4]);
    if (status > UCS_OK || status <= UCS_ERR_LAST || rank >= ranks) return {};
    return reply_head{static_cast<ucs_status_t>(status), rank};
}

void pack_lookup(rank_t rank, std::span<std::byte, sizeof(rank_t)> into) noexcept {
    put(into.data(), rank);
}

rank_t parse_lookup(std::span<const std::byte, sizeof(rank_t)> bytes) noexcept {
    return get<rank_t>(bytes.data());
}

}  // namespace ucg::oob::wire
