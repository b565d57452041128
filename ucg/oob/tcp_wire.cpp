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

bool fits(const header& what) noexcept {
    switch (what.what) {
        case kind::hello:
        case kind::welcome:
        case kind::late:
        case kind::withdrawn:
            return what.content == 0;
        case kind::published:
            return what.content != 0 && what.content <= most_published;
        case kind::question:
            return what.content == sizeof(rank_t);
        case kind::answer:
            return what.content >= answer_head::size &&
                   what.content <= answer_head::size + most_published;
        case kind::block:
        case kind::blocks:
            return what.content <= header::most_content;
        case kind::failure:
            return what.content >= 8 && what.content <= failure::most_bytes &&
                   what.content % 4 == 0;
    }
    return false;
}

}  // namespace

failure blame(ucs_status_t why, std::span<const rank_t> culprits) {
    const auto first = culprits.first(std::min(culprits.size(), failure::most_listed));
    return {why, static_cast<std::uint32_t>(culprits.size()), {first.begin(), first.end()}};
}

void pack(const header& from, std::span<std::byte, header::size> into) noexcept {
    put(&into[0], magic);
    put(&into[4], version);
    put(&into[6], static_cast<std::uint16_t>(from.what));
    put(&into[8], from.from);
    put(&into[12], from.ranks);
    put(&into[16], from.job);
    put(&into[24], from.round);
    put(&into[32], from.content);
}

std::optional<header> parse(std::span<const std::byte, header::size> bytes) noexcept {
    if (get<std::uint32_t>(&bytes[0]) != magic || get<std::uint16_t>(&bytes[4]) != version)
        return {};
    const header found{static_cast<kind>(get<std::uint16_t>(&bytes[6])),
                       get<rank_t>(&bytes[8]),
                       get<rank_t>(&bytes[12]),
                       get<std::uint64_t>(&bytes[16]),
                       get<std::uint64_t>(&bytes[24]),
                       get<std::uint64_t>(&bytes[32])};
    if (found.from >= found.ranks || !fits(found)) return {};
    return found;
}

std::size_t pack(const failure& from, std::span<std::byte, failure::most_bytes> into) noexcept {
    put(&into[0], static_cast<std::int32_t>(from.why));
    put(&into[4], from.count);
    const std::size_t listed = std::min(from.first.size(), failure::most_listed);
    for (std::size_t i = 0; i < listed; ++i)
        put(&into[8 + 4 * i], from.first[i]);
    return 8 + 4 * listed;
}

std::optional<failure> parse_failure(std::span<const std::byte> bytes, rank_t ranks) {
    if (bytes.size() < 8 || bytes.size() > failure::most_bytes || bytes.size() % 4 != 0) return {};
    const auto status = get<std::int32_t>(&bytes[0]);
    failure found{.why = UCS_ERR_IO_ERROR, .count = get<std::uint32_t>(&bytes[4])};
    if (status >= UCS_OK || status <= UCS_ERR_LAST || found.count > ranks) return {};
    found.why = static_cast<ucs_status_t>(status);
    for (std::size_t at = 8; at < bytes.size(); at += 4) {
        const auto rank = get<rank_t>(&bytes[at]);
        if (rank >= ranks || (!found.first.empty() && rank <= found.first.back())) return {};
        found.first.push_back(rank);
    }
    if (found.first.size() > found.count) return {};
    return found;
}

void pack(const answer_head& from, std::span<std::byte, answer_head::size> into) noexcept {
    put(&into[0], static_cast<std::int32_t>(from.status));
    put(&into[4], from.of);
}

std::optional<answer_head> parse_answer(std::span<const std::byte, answer_head::size> bytes,
                                        rank_t ranks) noexcept {
    const auto status = get<std::int32_t>(&bytes[0]);
    const auto of = get<rank_t>(&bytes[4]);
    if (status > UCS_OK || status <= UCS_ERR_LAST || of >= ranks) return {};
    return answer_head{static_cast<ucs_status_t>(status), of};
}

void pack_question(rank_t of, std::span<std::byte, sizeof(rank_t)> into) noexcept {
    put(into.data(), of);
}

rank_t parse_question(std::span<const std::byte, sizeof(rank_t)> bytes) noexcept {
    return get<rank_t>(bytes.data());
}

}  // namespace ucg::oob::wire
