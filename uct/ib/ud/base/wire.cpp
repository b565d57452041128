#include "uct/ib/ud/base/wire.hpp"

#include <array>
#include <cstring>

#include "ucs/wire/codec.hpp"
#include "uct/api/types.hpp"

namespace uct::ud::wire {
namespace {

using ucs::wire::read;
using ucs::wire::reader;

constexpr std::uint32_t most_pair = (1U << 24) - 1;
constexpr std::uint32_t most_key = (1U << 31) - 1;  // higher values are privileged keys

// Returns true if the body has the right length for the datagram's type.
bool fits(const header& head, std::size_t body) noexcept {
    switch (head.type) {
        case kind::data:
            return head.to != 0 && head.id < am_id_count;
        case kind::ack:
            return head.acknowledges != 0 && body == sizeof(std::uint64_t);
        case kind::request:
        case kind::resync:
            return body == hello::size;
        case kind::reply:
            return head.to != 0 && body == welcome::size;
        case kind::goodbye:
            return head.to != 0 && body == hello::size;
        case kind::refuse:
            return head.to != 0 && body == 0;
        case kind::ended:
            return body == sizeof(std::uint64_t);
    }
    return false;
}

}  // namespace

std::optional<datagram> parse(std::span<std::byte> bytes) noexcept {
    if (bytes.size() < header_size) return std::nullopt;
    const datagram found{*read<header>(bytes.first(header_size)), bytes.subspan(header_size)};
    if (found.head.version != version || found.head.zero != 0) return std::nullopt;
    if (!fits(found.head, found.body.size())) return std::nullopt;
    return found;
}

std::uint64_t u64_in(std::span<const std::byte> body) noexcept {
    return ucs::wire::reader(body).get<std::uint64_t>();
}

void address::pack(std::span<std::byte> into) const noexcept {
    port.pack(into);
    ucs::wire::writer(into.subspan(ib::address::size)).put(pair).put(key);
}

std::optional<address> address::parse(std::span<const std::byte> from) noexcept {
    if (from.size() != size) return std::nullopt;
    const auto port = ib::address::parse(from.first(ib::address::size));
    reader end(from.subspan(ib::address::size));
    const auto pair = end.get<std::uint32_t>();
    const auto key = end.get<std::uint32_t>();
    if (!port || pair == 0 || pair > most_pair || key > most_key) return std::nullopt;
    return address{*port, pair, key};
}

std::size_t address_hash::operator()(const address& hashed) const noexcept {
    std::array<std::byte, address::size> bytes;
    hashed.pack(bytes);
    std::array<std::uint64_t, address::size / sizeof(std::uint64_t)> words;
    static_assert(sizeof words == address::size);
    std::memcpy(words.data(), bytes.data(), sizeof words);
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words)
        sum = ucs::sys::siphash(secret_, sum ^ word);
    return sum;
}

void hello::pack(std::span<std::byte> into) const noexcept {
    from.pack(into);
    ucs::wire::writer(into.subspan(address::size)).put(connection).put(request_number).put(timeout);
}

std::optional<hello> hello::parse(std::span<const std::byte> from) noexcept {
    if (from.size() != size) return std::nullopt;
    const auto from_address = address::parse(from.first(address::size));
    if (!from_address) return std::nullopt;
    reader end(from.subspan(address::size));
    const hello found{*from_address, end.get<std::uint64_t>(), end.get<std::uint32_t>(),
                      end.get<std::uint32_t>()};
    if (found.connection == 0 || found.timeout > max_timeout) return std::nullopt;
    return found;
}

void welcome::pack(std::span<std::byte> into) const noexcept {
    ucs::wire::writer(into).put(connection).put(request_number).put(std::uint32_t{0});
}

std::optional<welcome> welcome::parse(std::span<const std::byte> from) noexcept {
    reader in(from);
    const welcome found{in.get<std::uint64_t>(), in.get<std::uint32_t>()};
    const auto zero = in.get<std::uint32_t>();
    if (!in.is_complete() || found.connection == 0 || zero != 0) return std::nullopt;
    return found;
}

}  // namespace uct::ud::wire
